import { Command } from 'commander';
import { addReader } from '../../../warehouse/readers/add-reader.ts';
import { withoutRequireAuth } from '../../../warehouse/session/require-auth.ts';
import { checkName } from '../../check-name.ts';
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
      checkName(name, `"${name}" cannot be a reader's name`);
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
