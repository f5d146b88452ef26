import { Command } from 'commander';
import { removeConnection } from '../../../warehouse/connections/remove-connection.ts';
import { changeConnection } from '../../change-connection.ts';
import { print } from '../../printer.ts';
import { withWarehouse } from '../../with-warehouse.ts';

export function removeCommand(): Command {
  return new Command('remove')
    .description('Remove a connection, its schedules, its state, its records and their history.')
    .argument('<name>')
    .option('--keep-data', 'keep records and history', false)
    .addHelpText('after', '\nExample:\n  $ npx daybook connection remove acme-us --keep-data')
    .action(async (name: string, { keepData }: { keepData: boolean }) => {
      await withWarehouse((warehouse, settings) =>
        changeConnection({ warehouse, settings }, { connectionId: name }, () =>
          removeConnection(warehouse, { connectionId: name, keepData }),
        ),
      );
      print(
        keepData
          ? `Removed ${name}; its records and history stay.`
          : `Removed ${name} and all of its records.`,
      );
    });
}
