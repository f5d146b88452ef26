import { join } from 'node:path';
import { withBuildLock } from '../warehouse/marts/build-lock.ts';
import { prepareSchemas } from '../warehouse/marts/prepare-schemas.ts';
import { publishMarts } from '../warehouse/marts/publish-marts.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import type { BuildSettings, MartsBuilt } from './build-settings.ts';
import { postgresOutput } from './postgres-output.ts';
import { pythonWithDbt } from './python-environment.ts';
import { runDbt } from './run-dbt.ts';

/**
 * Builds and tests the marts in a schema that nobody reads, then lets the views in `marts` show it. Until then readers see the
 * last good build; so they do when this process is killed. Throws PythonMissing, BuildRunning, MartsFailed, MartInUse.
 */
export async function buildOnPostgres(
  warehouse: Warehouse,
  { databaseUrl, ...settings }: BuildSettings & { databaseUrl: string },
): Promise<MartsBuilt> {
  const started = performance.now();
  const python = await pythonWithDbt(settings);
  return withBuildLock(warehouse, async (client) => {
    const schema = await prepareSchemas(client);
    settings.onStep('marts are being built on Postgres');
    const result = await runDbt({
      ...postgresOutput(databaseUrl),
      ...{
        python,
        seedsFolder: join(settings.home, 'seeds'),
        folder: join(settings.home, 'dbt', 'postgres'),
      },
      ...{ environment: settings.environment, connections: settings.connections, onLine: settings.onStep },
      vars: {
        daybook_api_address: settings.apiAddress,
        daybook_as_of_date: settings.asOfDate,
        daybook_capture_schema: 'staging',
        daybook_marts_schema: schema,
      },
    });
    const marts = await publishMarts(client, { schema, asOfDate: settings.asOfDate });
    const seconds = (performance.now() - started) / 1000;
    return { target: 'postgres', as_of_date: settings.asOfDate, marts, ...result, seconds };
  });
}
