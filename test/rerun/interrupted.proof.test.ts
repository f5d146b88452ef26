import { WorkflowNotFoundError, type WorkflowHandle } from '@temporalio/client';
import { expect, test } from 'vitest';
import { resetTo } from '../support/reset.ts';
import { rows } from '../support/rows.ts';
import { knownRuns, runsBeyond } from './ledger.ts';
import { openReruns } from './open-reruns.ts';
import { pickSample } from './points.ts';
import { awaitWorkflow, startWorkflow } from './run-workflow.ts';
import type { Start } from './scenario.ts';
import { untilEvents } from './until-events.ts';

const { installation, scenarios } = await openReruns();
const { warehouse } = installation;

/** Numbers of events after the start. Short workflows are over by the later ones. */
const places = [4, 7, 10, 14, 19, 25, 32, 40, 50, 62, 76, 92, 110];
const interruptions = places.flatMap((place) =>
  (['terminated', 'reset'] as const).map((how) => ({ how, place })),
);

test.for(scenarios)(
  'a workflow that is terminated and started again, or reset while it runs, has the same outcome: $name',
  { timeout: 1_800_000 },
  async ({ name, prepare }, { annotate }) => {
    let interrupted = 0;
    for (const { how, place } of pickSample(name, interruptions, 1)) {
      const where = `${how} after ${place} events`;
      const start = await prepare(installation);
      const before = await knownRuns(warehouse);
      const ran = await interrupt(start, { how, place });
      const runs = await runsBeyond(warehouse, before);
      expect(['interrupted', ...(start.statuses ?? ['succeeded'])], where).toEqual(
        expect.arrayContaining(runs.map((run) => run.split(' ').at(-1))),
      );
      if (start.exact !== undefined) {
        expect((await installation.compare(start.exact)).differences, where).toEqual([]);
      }
      expect(await rows(warehouse, repeatedVersions), where).toEqual([]);
      if (ran) interrupted += 1;
    }
    await annotate(`interrupted at ${interrupted} places`);
  },
);

/** Interrupts a running workflow, and waits until its successor ends. Returns whether it was still running. */
async function interrupt(start: Start, { how, place }: (typeof interruptions)[number]): Promise<boolean> {
  const first = await startWorkflow(installation, start);
  // A signal with the start is an event of its own.
  await untilEvents(installation, first, start.signal === undefined ? place : place + 1);
  const ran = (await first.describe()).status.name === 'RUNNING';
  if (how === 'terminated' && ran) await terminate(first);
  const again =
    how === 'reset' ? await resetTo(installation, first, -1) : await startWorkflow(installation, start);
  await awaitWorkflow(installation, again, start);
  return ran;
}

async function terminate(handle: WorkflowHandle): Promise<void> {
  try {
    await handle.terminate();
  } catch (error) {
    // The workflow has just ended.
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

/** Selects versions of a record that repeat the one before. */
const repeatedVersions = `
  select resource, record_id from (
    select *, lag(payload - 'last_synced_at') over earlier as content, lag(op) over earlier as earlier_op
    from history.record_versions
    window earlier as (partition by connection_id, resource, record_id order by recorded_at)
  ) versions
  where op = earlier_op and (op = 'delete' or payload - 'last_synced_at' = content)`;
