import type { PoolClient } from 'pg';
import { finishRemoval } from '../connections/finish-removal.ts';
import { listRemovals } from '../connections/list-removals.ts';
import { keepStreamMonths } from '../history/keep-stream-months.ts';
import { indexesOnly } from '../indexes-only.ts';
import { inTransaction } from '../in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { countExpired, expired, removeExpired } from './expired-rows.ts';
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

/** How long what is over is kept. */
export interface Keep {
  /** Runs, closed quarantine entries, discrepancies and alerts, webhooks that are done. */
  readonly runsMilliseconds: number;
  /** Runs of syncs that found nothing; as others when absent. */
  readonly quietRunsMilliseconds?: number | undefined;
  /** Versions that are no longer current; null: forever. */
  readonly historyMilliseconds: number | null;
}

/** Rows by table. */
export type Pruned = Record<string, number>;

/**
 * Removes what is older than it is to be kept, and finishes removals of connections, a batch per transaction: killed anywhere, the next one does the rest. A dry
 * run counts the same rows and removes none. An abort of `signal` stops after the batch in hand.
 */
export async function pruneWarehouse(
  warehouse: Warehouse,
  input: { keep: Keep; dryRun: boolean; signal?: AbortSignal },
): Promise<Pruned> {
  const { keep, dryRun, signal } = input;
  const cutoffs = await cutoffsOf(warehouse, keep);
  if (!dryRun) await keepStreamMonths(warehouse);
  const pruned: Pruned = {};
  for (const removal of await listRemovals(warehouse)) {
    add(pruned, { [removals]: 1 });
    if (!dryRun) await finishRemoval(warehouse, { removal, ...(signal === undefined ? {} : { signal }) });
  }
  for (const rows of expired) {
    if (dryRun) add(pruned, await countExpired(warehouse.pool, { rows, cutoff: cutoffs.runs }));
    else
      await inBatches(warehouse, signal, async (client) => {
        const removed = await removeExpired(client, { rows, cutoff: cutoffs.runs });
        add(pruned, removed);
        return Object.values(removed).some((count) => count > 0);
      });
  }
  if (cutoffs.quiet !== null)
    add(pruned, await foldQuietRuns(warehouse, { cutoff: cutoffs.quiet, dryRun, signal }));
  if (!dryRun) await forgetQuietDays(warehouse.pool, { cutoff: cutoffs.runs });
  if (!dryRun) await forgetRemovedRuns(warehouse.pool, { cutoff: cutoffs.runs });
  pruned[versions] = 0;
  if (cutoffs.history === null) return pruned;
  const cutoff = cutoffs.history;
  const beginning = await readBeginning(warehouse.pool, { cutoff });
  if (dryRun) return { ...pruned, [versions]: await countOldVersions(warehouse.pool, { cutoff, beginning }) };
  await noteMonthsBeforeFirstWalk(warehouse.pool, { cutoff });
  let after: Place = [beginning, '', '', ''];
  let skipped = 0;
  await inBatches(warehouse, signal, async (client) => {
    const batch = await removeOldVersions(client, { cutoff, after });
    add(pruned, { [versions]: batch.removed });
    skipped += batch.skipped;
    after = batch.last ?? after;
    return batch.last !== null;
  });
  // What another one had in hand, and may have given up, is looked at again.
  if (skipped === 0) await noteWalk(warehouse.pool, { cutoff });
  return pruned;
}

const versions = 'history.record_versions';

/** Counted as one each, whatever hangs on them: commands that were killed have left them. */
const removals = 'connections being removed';

/** A workflow that waits for a person may wait for a month. */
async function forgetRemovedRuns(pool: Warehouse['pool'], { cutoff }: { cutoff: string }): Promise<void> {
  await pool.query(
    `delete from sync.removed_runs where removed_at < least($1::timestamptz, now() - interval '60 days')`,
    [cutoff],
  );
}

/** Decided once, by the database clock, which wrote the times that are compared with them. */
async function cutoffsOf(
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
  warehouse: Warehouse,
  { cutoff, dryRun, signal }: { cutoff: string; dryRun: boolean; signal: AbortSignal | undefined },
): Promise<Pruned> {
  const beginning = await readQuietBeginning(warehouse.pool, { cutoff });
  if (dryRun) return countQuiet(warehouse.pool, { cutoff, beginning });
  const folded: Pruned = {};
  let after: RunPlace = [beginning, ''];
  await inBatches(warehouse, signal, async (client) => {
    const { runs, streams, last } = await foldQuiet(client, { cutoff, after });
    add(folded, { 'sync.runs': runs, 'sync.run_streams': streams });
    after = last ?? after;
    return last !== null;
  });
  await noteQuietWalk(warehouse.pool, { cutoff });
  return folded;
}

/** Repeats `remove` until it says that nothing is left. */
async function inBatches(
  { pool }: Warehouse,
  signal: AbortSignal | undefined,
  remove: (client: PoolClient) => Promise<boolean>,
): Promise<void> {
  for (let more = true; more;) {
    signal?.throwIfAborted();
    more = await inTransaction(pool, async ({ client }) => {
      await client.query(indexesOnly);
      return remove(client);
    });
  }
}

function add(sum: Pruned, counts: Pruned): void {
  for (const [table, count] of Object.entries(counts)) sum[table] = (sum[table] ?? 0) + count;
}
