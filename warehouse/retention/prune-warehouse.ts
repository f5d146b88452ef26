import type { Pool, PoolClient } from 'pg';
import { finishRemoval } from '../connections/finish-removal.ts';
import { listRemovals } from '../connections/list-removals.ts';
import { keepStreamMonths } from '../history/keep-stream-months.ts';
import { indexesOnly } from '../transactions/indexes-only.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { requireClock } from '../clock/require-clock.ts';
import { inCountedBatches, type InBatch } from '../transactions/batches.ts';
import { beginningOfTime, countExpired, expired, removeExpired } from './expired-rows.ts';
import {
  countOldVersions,
  noteMonthsBeforeFirstWalk,
  noteWalk,
  readBeginning,
  removeOldVersions,
  type Place,
} from './old-versions.ts';
import {
  countQuiet,
  foldQuiet,
  forgetQuietDays,
  noteQuietWalk,
  readQuietBeginning,
  type RunPlace,
} from './quiet-runs.ts';

/** How long closed rows are kept. */
export interface Keep {
  /** Runs, closed quarantine entries, discrepancies and alerts, processed webhooks. */
  readonly runsMilliseconds: number;
  /** Runs of syncs that found nothing; absent: as other runs. */
  readonly quietRunsMilliseconds?: number | undefined;
  /** Versions that are no longer current; null: forever. */
  readonly historyMilliseconds: number | null;
}

/** Number of rows by table. */
export type Pruned = Record<string, number>;

/**
 * Removes rows that are older than they are to be kept, and finishes removals of connections, one batch per transaction. After a crash, the next call
 * does the rest. A dry run counts the same rows and removes none. An abort of `signal` stops after the current batch. Throws ClockWrong.
 */
export async function pruneWarehouse(
  warehouse: Warehouse,
  input: { keep: Keep; dryRun: boolean; signal?: AbortSignal },
): Promise<Pruned> {
  const { keep, dryRun, signal } = input;
  await requireClock(warehouse);
  const cutoffs = await readCutoffs(warehouse, keep);
  return dryRun
    ? countOld(warehouse, cutoffs)
    : inCountedBatches(warehouse, { what: 'a prune', signal }, (inBatch) =>
        removeOld(warehouse, { cutoffs, inBatch, signal }),
      );
}

async function countOld(warehouse: Warehouse, cutoffs: Cutoffs): Promise<Pruned> {
  const { pool } = warehouse;
  const pruned: Pruned = {};
  const going = await listRemovals(warehouse);
  if (going.length > 0) add(pruned, { [removals]: going.length });
  for (const one of expired) add(pruned, await countExpired(pool, { expired: one, cutoff: cutoffs.runs }));
  if (cutoffs.quiet !== null) {
    const cutoff = cutoffs.quiet;
    add(pruned, await countQuiet(pool, { cutoff, beginning: await readQuietBeginning(pool, { cutoff }) }));
  }
  pruned[versions] = 0;
  if (cutoffs.history !== null) {
    const cutoff = cutoffs.history;
    const beginning = await readBeginning(pool, { cutoff });
    add(pruned, { [versions]: await countOldVersions(pool, { cutoff, beginning }) });
  }
  return pruned;
}

async function removeOld(
  warehouse: Warehouse,
  { cutoffs, inBatch, signal }: { cutoffs: Cutoffs; inBatch: InBatch; signal: AbortSignal | undefined },
): Promise<Pruned> {
  const { pool } = warehouse;
  await keepStreamMonths(inBatch);
  const pruned: Pruned = {};
  for (const removal of await listRemovals(warehouse)) {
    add(pruned, { [removals]: 1 });
    await finishRemoval(warehouse, { removal, ...(signal === undefined ? {} : { signal }) });
  }
  for (const one of expired) {
    let from: string = beginningOfTime;
    await untilNothingIsLeft(inBatch, async (client) => {
      const { removed, until } = await removeExpired(client, { expired: one, cutoff: cutoffs.runs, from });
      add(pruned, removed);
      from = until ?? from;
      return until !== null;
    });
  }
  if (cutoffs.quiet !== null) add(pruned, await foldQuietRuns(pool, { cutoff: cutoffs.quiet, inBatch }));
  await forgetQuietDays(pool, { cutoff: cutoffs.runs });
  await forgetRemovedRuns(pool, { cutoff: cutoffs.runs });
  pruned[versions] = 0;
  if (cutoffs.history !== null) add(pruned, await removeVersions(pool, { cutoff: cutoffs.history, inBatch }));
  return pruned;
}

async function removeVersions(
  pool: Pool,
  { cutoff, inBatch }: { cutoff: string; inBatch: InBatch },
): Promise<Pruned> {
  const beginning = await readBeginning(pool, { cutoff });
  await inBatch(({ client }) => noteMonthsBeforeFirstWalk(client, { cutoff }));
  let after: Place = [beginning, '', '', ''];
  let removed = 0;
  let skipped = 0;
  let staying: string | null = null;
  await untilNothingIsLeft(inBatch, async (client) => {
    const batch = await removeOldVersions(client, { cutoff, after });
    removed += batch.removed;
    skipped += batch.skipped;
    // Batches are in the order of time, so the first value is the earliest.
    staying ??= batch.staying;
    after = batch.last ?? after;
    return batch.last !== null;
  });
  // Rows that another prune was removing, and may have given up, are read again.
  if (skipped === 0) await inBatch(({ client }) => noteWalk(client, { cutoff, staying }));
  return { [versions]: removed };
}

const versions = 'history.record_versions';

/** Each counts as one, whatever hangs on it; commands that were killed have left them. */
const removals = 'connections being removed';

/** Deletes the notes of removed runs, late enough for a workflow that waits a month for a person. */
async function forgetRemovedRuns(pool: Pool, { cutoff }: { cutoff: string }): Promise<void> {
  await pool.query(
    `delete from sync.removed_runs where removed_at < least($1::timestamptz, now() - interval '60 days')`,
    [cutoff],
  );
}

/** Reads the cutoffs once, by the clock of the database, which wrote the times that are compared with them. */
async function readCutoffs(
  { pool }: Warehouse,
  { runsMilliseconds, quietRunsMilliseconds, historyMilliseconds }: Keep,
): Promise<Cutoffs> {
  const { rows } = await pool.query<Cutoffs>(
    `select
       (now() - $1 * interval '1 millisecond')::text as runs,
       (now() - $2 * interval '1 millisecond')::text as history,
       (now() - $3 * interval '1 millisecond')::text as quiet`,
    [runsMilliseconds, historyMilliseconds, quietRunsMilliseconds ?? null],
  );
  return rows[0] ?? { runs: '-infinity', history: null, quiet: null };
}

interface Cutoffs {
  readonly runs: string;
  readonly history: string | null;
  readonly quiet: string | null;
}

async function foldQuietRuns(
  pool: Pool,
  { cutoff, inBatch }: { cutoff: string; inBatch: InBatch },
): Promise<Pruned> {
  const folded: Pruned = {};
  let after: RunPlace = [await readQuietBeginning(pool, { cutoff }), ''];
  await untilNothingIsLeft(inBatch, async (client) => {
    const { runs, streams, last } = await foldQuiet(client, { cutoff, after });
    add(folded, { 'sync.runs': runs, 'sync.run_streams': streams });
    after = last ?? after;
    return last !== null;
  });
  await inBatch(({ client }) => noteQuietWalk(client, { cutoff }));
  return folded;
}

/** Repeats `remove` until it returns that nothing is left. */
async function untilNothingIsLeft(
  inBatch: InBatch,
  remove: (client: PoolClient) => Promise<boolean>,
): Promise<void> {
  for (let more = true; more;)
    more = await inBatch(async ({ client }) => {
      await client.query(indexesOnly);
      return remove(client);
    });
}

function add(sum: Pruned, counts: Pruned): void {
  for (const [table, count] of Object.entries(counts)) sum[table] = (sum[table] ?? 0) + count;
}
