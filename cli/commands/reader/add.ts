import { Command } from 'commander';
import { addReader } from '../../../warehouse/readers/add-reader.ts';
import { plainName } from '../../../warehouse/plain-name.ts';
import { withoutRequireAuth } from '../../../warehouse/require-auth.ts';
import { UsageError } from '../../errors.ts';
import { print, printAside } from '../../printer.ts';
import { withWarehouse } from '../../with-warehouse.ts';

export function addCommand(): Command {
  return new Command('add')
    .description(
      'Create a login that sees only these connections (in finance, marts and history), and print its URL. The password is shown only once. An existing reader of that name is recreated with these connections and a new password.',
    )
    .argument('<name>', 'a name of your choice: lower-case letters, digits and hyphens')
    .requiredOption('--connection <names...>', 'the connections that it sees')
    .addHelpText(
      'after',
      '\nExample:\n  $ npx daybook reader add acme --connection acme-us acme-eu\n  $ ACME_URL=$(npx daybook reader add acme --connection acme-us)',
    )
    .action(async (name: string, { connection: connections }: { connection: string[] }) => {
      checkName(name);
      const { url, statements } = await withWarehouse((warehouse, { database }) =>
        addReader(warehouse, { reader: name, connections, databaseUrl: database.directUrl }),
      );
      if (statements !== null) {
        printAside(
          'This Postgres user may not create the login. Have a server administrator run the following, then run "daybook migrate":',
        );
        printAside(statements);
      }
      printAside(`${name} sees ${[...new Set(connections)].join(', ')}. Its password is not shown again:`);
      print(withoutRequireAuth(url).href);
    });
}

function checkName(name: string): void {
  if (plainName.test(name)) return;
  throw new UsageError(
    `"${name}" cannot be a reader's name: it takes lower-case letters, digits and hyphens, at most 63, and begins with a letter or digit.`,
  );
}
