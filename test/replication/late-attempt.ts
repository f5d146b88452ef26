import { asyncLocalStorage, Context, type Info } from '@temporalio/activity';
import { createActivities } from '../../activities/index.ts';
import { dependenciesOf } from '../simulation/dependencies-of.ts';
import type { ScriptedService } from './scripted-service.ts';

/** An attempt of `readStream` of a run that is over, as the workflow execution that began the run had asked for it. */
export async function lateAttempt(
  service: ScriptedService,
  { runId, kind, stream }: { runId: string; kind: 'sync' | 'reconcile'; stream: string },
): Promise<void> {
  const { warehouse, connection, url: apiAddress } = service;
  const api = service.createApi();
  const activities = createActivities(
    dependenciesOf({ warehouse, api, apiAddress, lookbackMilliseconds: 600_000 }),
  );
  const unused = (): void => undefined;
  const log = { log: unused, trace: unused, debug: unused, info: unused, warn: unused, error: unused };
  const info = {
    workflowExecution: { workflowId: `${kind}/${connection}`, runId },
    activityId: '2',
    attempt: 1,
    taskQueue: 'daybook',
  } as unknown as Info;
  const context = new Context(
    info,
    new Promise<never>(unused),
    new AbortController().signal,
    unused,
    undefined,
    log,
    undefined as never,
    [] as never,
  );
  await asyncLocalStorage
    .run(context, () => activities.readStream({ runId, connection, reason: 'test', stream, kind }))
    .catch(unused);
  await api.close();
}
