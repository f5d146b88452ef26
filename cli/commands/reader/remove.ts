import { Command } from 'commander';
import { removeReader } from '../../../warehouse/readers/remove-reader.ts';
import { print } from '../../printer.ts';
import { withWarehouse } from '../../with-warehouse.ts';

export function removeCommand(): Command {
  return new Command('remove')
    .description('Remove a reader and its login, and end its open sessions.')
    .argument('<name>', 'the reader')
    .addHelpText('after', '\nExample:\n  $ npx daybook reader remove acme')
    .action(async (name: string) => {
      const statements = await withWarehouse((warehouse) => removeReader(warehouse, name));
      print(`Removed ${name}; it no longer sees anything.`);
      if (statements === null) return;
      print(
        'Its login remains, because this Postgres user may not drop it, or something depends on it. Have a server administrator run:',
      );
      print(statements);
    });
}
