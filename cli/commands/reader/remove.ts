import { Command } from 'commander';
import { removeReader } from '../../../warehouse/readers/remove-reader.ts';
import { print } from '../../printer.ts';
import { withWarehouse } from '../../with-warehouse.ts';

export function removeCommand(): Command {
  return new Command('remove')
    .description('Remove a reader and its login, and end the sessions of it that are open.')
    .argument('<name>')
    .addHelpText('after', '\nExample:\n  $ npx daybook reader remove acme')
    .action(async (name: string) => {
      const statements = await withWarehouse((warehouse) => removeReader(warehouse, name));
      print(`Removed ${name}: it sees nothing any more.`);
      if (statements === null) return;
      print(
        'Its login is left, because this user of Postgres may not drop it, or something depends on it. An administrator of the server runs:',
      );
      print(statements);
    });
}
