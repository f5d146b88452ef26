import { codeOf } from '../errors/code-of.ts';
import { isDatabaseAway } from '../warehouse/session/is-database-away.ts';
import { LockLost } from '../warehouse/transactions/hold-lock.ts';
import { publishMarts } from '../warehouse/marts/publish-marts.ts';
import { findRowsToCopy } from '../warehouse/marts/rows-to-copy.ts';
import { noteMarts } from '../warehouse/marts/note-marts.ts';
import { beginRunOfAll } from '../warehouse/runs/begin-run-of-all.ts';
import { buildTarget, describeBuildError, type BuildIn, type BuildRun } from './build-target.ts';
import type { BuildFollower, MartsBuilt } from './build-settings.ts';
import { copyIntoPostgres, readConnections, type FinishedMarts } from './copy-into-postgres.ts';
import { todayIn } from './today-in.ts';

/** How many marts were copied, or why Postgres has no copy, so that its marts have to be built there. */
export type Copy = { readonly marts: number } | { readonly failure: string };

/**
 * Builds the marts on the latest snapshot, and copies them into Postgres, which takes a fraction of another build. A copy that fails leaves the
 * marts in Postgres as they are, and its run open. Throws what `buildTarget` throws.
 */
export async function buildOnce(
  at: BuildIn,
  runs: { readonly lake: BuildRun<'lake'>; readonly postgres: BuildRun<'postgres'> },
  follower: BuildFollower,
): Promise<{ readonly built: MartsBuilt; readonly copy: Copy }> {
  let copy: Copy = { failure: 'The marts on the lake were not finished.' };
  const built = await buildTarget(at, runs.lake, follower, async ({ as_of_date: asOfDate }, marts) => {
    try {
      copy = await copyMarts(at, runs.postgres, { ...marts, asOfDate }, follower);
    } catch (error) {
      // A Postgres without room for a copy (class 53) answers: its own build then fails for the same reason, once, and says so.
      const isAway =
        error instanceof LockLost || (isDatabaseAway(error) && !String(codeOf(error)).startsWith('53'));
      if (follower.signal?.aborted === true || isAway) throw error;
      copy = { failure: describeBuildError(error) };
    }
  });
  return { built, copy };
}

/**
 * An erasure that waits for the lake, and blocks exports meanwhile, waits for the copy too. So a copy waits for readers only briefly; the build in
 * Postgres that follows waits as long as they need.
 */
const mostForReadersMs = 10_000;

async function copyMarts(
  { warehouse, places }: BuildIn,
  run: BuildRun<'postgres'>,
  marts: FinishedMarts & { readonly asOfDate: string },
  follower: BuildFollower,
): Promise<Copy> {
  const { asOfDate, snapshotId, lock } = marts;
  const started = performance.now();
  const waiting = { ...follower, timeoutMilliseconds: mostForReadersMs };
  return lock.withAnother('postgres', async (postgres) => {
    const shown = { ...marts, connections: await readConnections(marts) };
    const found = await findRowsToCopy(warehouse, shown);
    if ('failure' in found) return found;
    // Its months and its freshness would be those of yesterday until something changes.
    if (todayIn(places.timeZone, new Date(found.takenAt)) !== asOfDate)
      return { failure: `Snapshot ${snapshotId} was taken on another day than ${asOfDate}.` };
    await beginRunOfAll(warehouse, { ...run, kind: 'marts' });
    const schema = await copyIntoPostgres(postgres, marts, waiting);
    // A connection may have been removed while it was copied.
    const rows = await findRowsToCopy(warehouse, shown);
    if ('failure' in rows) return rows;
    const names = await postgres.inSession((client) =>
      publishMarts(client, { schema }, { ...waiting, requireLock: postgres.requireLock }),
    );
    const seconds = (performance.now() - started) / 1000;
    const note = {
      runId: run.runId,
      target: 'postgres',
      asOfDate,
      snapshotId,
      rowsOf: rows.takenAt,
      marts: names.length,
      outcome: `Copied ${names.length} marts from those on snapshot ${snapshotId} as of ${asOfDate}, ${seconds.toFixed(1)} s.`,
    } as const;
    await noteMarts(warehouse, note, postgres.requireLock);
    return { marts: names.length };
  });
}
