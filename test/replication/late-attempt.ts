import { asyncLocalStorage, Context, type Info } from '@temporalio/activity';
import { createActivities, type Activities } from '../../activities/index.ts';
import { createDependencies } from '../simulation/create-dependencies.ts';
import type { ScriptedService } from './scripted-service.ts';

/** Runs an attempt of `readStream` for a run that is over, as requested by the workflow execution that began the run. */
export async function lateAttempt(
  service: ScriptedService,
  { runId, kind, stream }: { runId: string; kind: 'sync' | 'reconcile'; stream: string },
): Promise<void> {
  const { connection } = service;
  await firstAttempt(service, { workflowId: `${kind}/${connection}`, runId }, ({ readStream }) =>
    readStream({ runId, connection, reason: 'test', stream, kind }),
  ).catch(unused);
}

/** Runs `work` as the first attempt of an activity. Any attempt can be that, because a reset of the activity counts from 1 again. */
export async function firstAttempt<Result>(
  service: ScriptedService,
  workflowExecution: { workflowId: string; runId: string },
  work: (activities: Activities) => Promise<Result>,
): Promise<Result> {
  const { warehouse, url: apiAddress } = service;
  const api = service.createApi();
  const activities = createActivities(
    createDependencies({ warehouse, api, apiAddress, lookbackMilliseconds: 600_000 }),
  );
  const log = { log: unused, trace: unused, debug: unused, info: unused, warn: unused, error: unused };
  const info = {
    workflowExecution,
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
  try {
    return await asyncLocalStorage.run(context, () => work(activities));
  } finally {
    await api.close();
  }
}

function unused(): void {
  // No caller listens.
}
