import type { Client } from '@temporalio/client';
import { endedBeforeRun } from './ended-before-run.ts';
import { exitCodes, type ExitCode } from './exit-codes.ts';
import { print, printAside, printJson } from './printer.ts';
import type { RunRequest, StartedRun } from '../operations/start-run.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import { resourcesNamed } from '../resources/index.ts';
import type { RunRead } from '../warehouse/runs/read-run.ts';
import type { Followed } from './follow-run.ts';
import { withTemporal } from './with-temporal.ts';
import { withWarehouse } from './with-warehouse.ts';

/**
 * Runs `sync`, `reconcile` and `backfill`: starts or joins the run, follows it and reports its end. The request may depend on the content
 * of the warehouse.
 */
export async function runAndFollow(
  requested: RunRequest | ((warehouse: Warehouse) => Promise<RunRequest>),
  { wait, json }: { wait: boolean; json: boolean },
): Promise<ExitCode> {
  return withWarehouse(
    async (warehouse, settings) => {
      const { checkOwnership } = await import('../operations/ownership/check-ownership.ts');
      const { startRun } = await import('../operations/start-run.ts');
      const { followRun } = await import('./follow-run.ts');
      const request = typeof requested === 'function' ? await requested(warehouse) : requested;
      return withTemporal(settings, async (client) => {
        await checkOwnership({ warehouse, temporal: client, settings }, { say: printAside });
        const start = (): Promise<StartedRun> => startRun({ client, warehouse, settings }, request);
        let started = await start();
        if (!wait) {
          if (started.joined) await requireAll(client, started, request);
          if (json) printJson(started);
          else print(`${started.joined ? 'Already running' : 'Started'}: ${started.link}`);
          return exitCodes.done;
        }
        const follow = (run: StartedRun): Promise<Followed> =>
          followRun({ client, warehouse }, { ...run, quiet: json });
        let followed = await follow(started);
        // By then, somebody else may have started the next run, again for only some resources.
        while (started.joined && lacksResources(followed.run, request)) {
          printAside('That run covered only some resources; starting another for all that you asked for.');
          started = await start();
          followed = await follow(started);
        }
        if (json) {
          printJson(followed.run ?? null);
          if (followed.run === undefined) printAside(endedBeforeRun);
        }
        return followed.exitCode;
      });
    },
    ['database', 'temporal', 'api'],
  );
}

/** Throws if the joined run does not cover all requested resources: without waiting for it, no other run can be started. */
async function requireAll(client: Client, started: StartedRun, { input }: RunRequest): Promise<void> {
  const { readResourcesOfRun } = await import('../temporal/read-resources-of-run.ts');
  const { workflowId, temporalRunId: runId } = started;
  const read = await readResourcesOfRun(client, { workflowId, runId });
  const wanted = resourcesNamed(input.resources ?? []);
  if (read.length === 0 || wanted.every(({ name }) => read.includes(name))) return;
  throw new Error(
    `A run of other resources of ${input.connection} is under way (${started.link}); nothing was started. Repeat the command when it has ended.`,
  );
}

/** True if the run covered less than requested: a request for all resources may join a run of only one. */
function lacksResources(run: RunRead | undefined, { input }: RunRequest): boolean {
  const read = run?.streams.map(({ stream }) => stream) ?? [];
  return resourcesNamed(input.resources ?? []).some(({ streams }) =>
    streams.every(({ name }) => !read.includes(name)),
  );
}
