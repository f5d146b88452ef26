import { Command, Option } from 'commander';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { buildOnLake } from '../../../marts/build-on-lake.ts';
import { buildOnPostgres } from '../../../marts/build-on-postgres.ts';
import type { BuildSettings, MartsBuilt } from '../../../marts/build-settings.ts';
import { todayIn } from '../../../marts/today-in.ts';
import { readEnv } from '../../../worker/config/read-env.ts';
import { print, printAside, printJson } from '../../printer.ts';
import { readConfig } from '../../settings.ts';
import { withWarehouse } from '../../with-warehouse.ts';

interface Options {
  target: 'postgres' | 'lake';
  json?: true;
}

export function buildCommand(): Command {
  return new Command('build')
    .description('Build and test the marts; readers see the last good ones until the new ones are complete.')
    .addOption(
      new Option('--target <target>', 'where: in Postgres, or as Parquet on the latest snapshot')
        .choices(['postgres', 'lake'])
        .default('postgres'),
    )
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ npx daybook dbt build --target lake')
    .action(async ({ target, json }: Options) => {
      const built = target === 'postgres' ? await onPostgres() : await onLake();
      if (json === true) printJson(built);
      else show(built);
    });
}

function onPostgres(): Promise<MartsBuilt> {
  return withWarehouse((warehouse, settings) =>
    buildOnPostgres(warehouse, {
      ...buildSettings(),
      apiAddress: settings.api.address,
      databaseUrl: settings.database.url,
    }),
  );
}

function onLake(): Promise<MartsBuilt> {
  return buildOnLake({ ...buildSettings(), lake: readConfig().lake.location });
}

function buildSettings(): BuildSettings {
  const config = readConfig();
  const environment = readEnv();
  return {
    home: config.home,
    cacheFolder: join(environment.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'daybook'),
    environment,
    apiAddress: config.api.url ?? 'sandbox',
    asOfDate: todayIn(config.reportingTimezone, new Date()),
    connections: config.database.connections,
    onStep: printAside,
  };
}

function show(built: MartsBuilt): void {
  const where = built.snapshot_id === undefined ? 'in Postgres' : `on snapshot ${built.snapshot_id}`;
  print(
    `Built ${built.marts.length} marts ${where} as of ${built.as_of_date}: ${built.models} models, ${built.tests} tests, ` +
      `${built.warnings} warnings, ${built.seconds.toFixed(1)} s.`,
  );
}
