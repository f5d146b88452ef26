import { randomUUID } from 'node:crypto';
import { Command, Option } from 'commander';
import { print, printAside, printJson } from '../../printer.ts';
import type { Settings } from '../../../config/settings.ts';
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
      const { buildMarts, inWords } = await import('../../../marts/build-marts.ts');
      const { martsPlaces } = await import('../../../operations/marts-places.ts');
      const runId = randomUUID();
      const built = await withWarehouse((warehouse, settings) =>
        buildMarts(
          { warehouse, places: martsPlaces(settings, { connections: ownConnections(settings) }) },
          // No workflow: the command does the work itself.
          { runId, target, workflowId: '', temporalRunId: runId, reason: 'daybook dbt build' },
          { onStep: printAside, onLine: printAside },
        ),
      );
      if (json === true) printJson(built);
      else print(inWords(built));
    });
}

/** What is left for dbt beside the session of the lock and the two of the ledger. */
function ownConnections({ database }: Settings): number {
  return Math.max(1, database.connections - 3);
}
