import { Command } from 'commander';
import { listReaders, type ReaderListed } from '../../../warehouse/readers/list-readers.ts';
import { print, printJson, printTable } from '../../printer.ts';
import { withWarehouse } from '../../with-warehouse.ts';

export function listCommand(): Command {
  return new Command('list')
    .description('List the readers, the connections that each sees, and its login.')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ npx daybook reader list')
    .action(async ({ json }: { json?: true }) => {
      const readers = await withWarehouse(listReaders);
      if (json === true) printJson(readers);
      else if (readers.length === 0)
        print('There are no readers yet. Add one with: npx daybook reader add NAME --connection NAME');
      else
        printTable(
          ['reader', 'sees', 'login', 'password set', 'trouble'],
          readers.map((one) => [
            one.reader,
            one.connections.join(', '),
            one.login,
            one.password_set_at,
            describeTrouble(one),
          ]),
        );
    });
}

function describeTrouble({ trouble, beyond }: ReaderListed): string | null {
  if (beyond.length === 0) return trouble;
  return [...(trouble === null ? [] : [trouble]), `sees all connections as ${beyond.join(', ')}`].join('; ');
}
