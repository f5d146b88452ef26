import type { MartsPlaces } from '../marts/build-target.ts';
import type { Settings } from '../config/settings.ts';

/** The settings with which a process builds marts; dbt may have `connections` Postgres sessions. */
export function martsPlaces(
  { marts, api, database, lake }: Settings,
  { connections }: { connections: number },
): MartsPlaces {
  return {
    ...marts,
    apiAddress: api.address,
    databaseUrl: database.directUrl,
    lake: lake.location,
    iceberg: lake.format === 'iceberg',
    connections,
  };
}
