import { buildOnPostgres } from '../../marts/build-on-postgres.ts';
import { martsPlaces } from '../../operations/marts-places.ts';
import { withBuildLock } from '../../warehouse/marts/build-lock.ts';
import { settingsOf } from '../console/open-console.ts';
import type { Installation } from '../support/installation.ts';

/**
 * Builds the marts in Postgres as of a day, and records that they exist. `apiAddress` is the API address of the connections, if it is not
 * the same for all.
 */
export async function buildMarts(
  { warehouse, databaseUrl, env }: Pick<Installation, 'warehouse' | 'databaseUrl' | 'env'>,
  { asOfDate, apiAddress }: { asOfDate: string; apiAddress?: string },
): Promise<void> {
  await withBuildLock({ databaseUrl, target: 'postgres' }, (lock) =>
    buildOnPostgres(lock, {
      ...martsPlaces(settingsOf(env), { connections: 2 }),
      ...(apiAddress !== undefined && { apiAddress }),
      databaseUrl,
      asOfDate,
      onStep: () => undefined,
    }),
  );
  await warehouse.pool.query(
    `insert into sync.marts (target, run_id, as_of_date, marts, begun_at) values ('postgres', 'built', $1, 24, now())`,
    [asOfDate],
  );
}
