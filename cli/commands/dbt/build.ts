import { Command, Option } from 'commander';
import { print, printAside, printJson } from '../../printer.ts';
import type { Settings } from '../../../config/settings.ts';
import { withWarehouse } from '../../with-warehouse.ts';

interface Options {
  target: 'postgres' | 'lake' | 'spark';
  json?: true;
}

export function buildCommand(): Command {
  return new Command('build')
    .description('Build and test the marts; readers see the last good ones until the new ones are complete.')
    .addOption(
      new Option(
        '--target <target>',
        'where: in Postgres, as Parquet on the latest snapshot, or with Spark as Iceberg tables',
      )
        .choices(['postgres', 'lake', 'spark'])
        .default('postgres'),
    )
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ npx daybook dbt build --target lake')
    .action(async ({ target, json }: Options) => {
      const { describeBuild } = await import('../../../marts/build-target.ts');
      const { buildWithoutWorkflow } = await import('../../../operations/build-without-workflow.ts');
      const built = await withWarehouse(
        (warehouse, settings) =>
          buildWithoutWorkflow(
            { settings, warehouse },
            { target, reason: 'daybook dbt build', connections: ownConnections(settings) },
            { onStep: printAside },
          ),
        // The API address decides whose connections enter the marts.
        ['database', 'api'],
      );
      if (json === true) printJson(built);
      else print(describeBuild(built));
    });
}

/** The connections left for dbt, after the session of the lock and the two of the ledger. */
function ownConnections({ database }: Settings): number {
  return Math.max(1, database.connections - 3);
}
