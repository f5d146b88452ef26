import { Command } from 'commander';
import { migrate } from '../../warehouse/schema/migrate.ts';
import { openWarehouse } from '../../warehouse/open-warehouse.ts';
import { describeMigrations } from '../describe-migrations.ts';
import { print, printAside, printJson } from '../printer.ts';
import { readServiceSettings } from '../settings.ts';

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('Migrate the warehouse schema to this release. Safe to run repeatedly and concurrently.')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ DATABASE_URL=postgres://… npx daybook migrate')
    .action(async ({ json }: { json?: true }) => {
      const settings = await readServiceSettings(['database']);
      const warehouse = openWarehouse({ url: settings.database.directUrl, connections: 2 });
      try {
        const result = await migrate(warehouse, printAside);
        if (json === true) {
          printJson(result);
          return;
        }
        print(
          result.applied.length === 0
            ? 'The warehouse is up to date.'
            : `Migrated: ${describeMigrations(result.applied)}.`,
        );
        if (result.readerSql !== null) {
          print('This user may not create the role for readers. Have an administrator run:');
          print(result.readerSql);
        }
      } finally {
        await warehouse.close();
      }
    });
}
