import { isDatabaseAway } from '../warehouse/session/is-database-away.ts';
import { withBuildLock } from '../warehouse/marts/build-lock.ts';
import { findCopyableRows } from '../warehouse/marts/copyable-rows.ts';
import { noteMarts } from '../warehouse/marts/note-marts.ts';
import { beginRunOfAll } from '../warehouse/runs/begin-run-of-all.ts';
import { buildMarts, sentenceOf, type BuildIn, type BuildRun } from './build-marts.ts';
import type { BuildFollower, MartsBuilt } from './build-settings.ts';
import { copyIntoPostgres, type FinishedMarts } from './copy-into-postgres.ts';
import { todayIn } from './today-in.ts';

/** How many marts were copied, or why Postgres has no copy, so that its marts have to be built there. */
export type Copy = { readonly marts: number } | { readonly failure: string };

/**
 * Builds the marts on the latest snapshot, and copies them into Postgres, which takes a fraction of another build. A copy that fails leaves the
 * marts in Postgres as they are, and its run open. Throws what `buildMarts` throws.
 */
export async function buildOnce(
  at: BuildIn,
  runs: { readonly lake: BuildRun<'lake'>; readonly postgres: BuildRun<'postgres'> },
  follower: BuildFollower,
): Promise<{ readonly built: MartsBuilt; readonly copy: Copy }> {
  let copy: Copy = { failure: 'The marts on the lake were not finished.' };
  const built = await buildMarts(at, runs.lake, follower, async ({ as_of_date: asOfDate }, marts) => {
    try {
      copy = await copyMarts(at, runs.postgres, { ...marts, asOfDate }, follower);
    } catch (error) {
      if (follower.signal?.aborted === true || isDatabaseAway(error)) throw error;
      copy = { failure: sentenceOf(error) };
    }
  });
  return { built, copy };
}

async function copyMarts(
  { warehouse, places: { databaseUrl, connections, timeZone } }: BuildIn,
  run: BuildRun<'postgres'>,
  marts: FinishedMarts & { readonly asOfDate: string },
  follower: BuildFollower,
): Promise<Copy> {
  const { asOfDate, snapshotId } = marts;
  const started = performance.now();
  if (connections < 2) return { failure: 'DAYBOOK_DATABASE_CONNECTIONS leaves no connection for a copy.' };
  return withBuildLock({ databaseUrl, target: 'postgres' }, async (lock) => {
    // An erasure that waits for the lake, and then for Postgres, finds no copy under way.
    await marts.assertHeld();
    const rows = await findCopyableRows(warehouse, marts);
    if ('failure' in rows) return rows;
    // Its months and its freshness would be those of yesterday until something changes.
    if (todayIn(timeZone, new Date(rows.takenAt)) !== asOfDate)
      return { failure: `Snapshot ${snapshotId} is of another day than ${asOfDate}.` };
    await beginRunOfAll(warehouse, { ...run, kind: 'marts' });
    const names = await copyIntoPostgres(lock, marts, follower);
    const seconds = (performance.now() - started) / 1000;
    await noteMarts(warehouse, {
      runId: run.runId,
      target: 'postgres',
      asOfDate,
      snapshotId,
      rowsOf: rows.takenAt,
      marts: names.length,
      outcome: `Copied ${names.length} marts from those on snapshot ${snapshotId} as of ${asOfDate}, ${seconds.toFixed(1)} s.`,
    });
    return { marts: names.length };
  });
}
