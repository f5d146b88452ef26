import { Command, Option } from 'commander';
import { text } from 'node:stream/consumers';
import { addConnection } from '../../warehouse/connections/add-connection.ts';
import { listConnections } from '../../warehouse/connections/list-connections.ts';
import { removeConnection } from '../../warehouse/connections/remove-connection.ts';
import { setToken } from '../../warehouse/connections/set-token.ts';
import { checkSecretKey } from '../../warehouse/secrets/check-secret-key.ts';
import { UsageError } from '../errors.ts';
import { print, printJson, printTable } from '../printer.ts';
import { withWarehouse } from '../with-warehouse.ts';

export function connectionCommand(): Command {
  return new Command('connection')
    .description('The connections to accounting platforms.')
    .addCommand(addCommand())
    .addCommand(listCommand())
    .addCommand(setTokenCommand())
    .addCommand(removeCommand());
}

interface TokenOptions {
  tokenStdin?: true;
  tokenEnv?: string;
}

function addCommand(): Command {
  return (
    withTokenOptions(new Command('add'))
      .description('Add a connection. Its access token is stored encrypted.')
      .argument('<name>', 'a name of your choice: lower-case letters, digits and hyphens')
      .option('--expand-platform-data', 'ask for the raw platform record too', false)
      // There are no schedules yet; scripts that say they want none already may.
      .addOption(new Option('--no-schedule').hideHelp())
      .addHelpText('after', '\nExample:\n  $ npx daybook connection add acme-us --token-env ACME_US_TOKEN')
      .action(async (name: string, options: TokenOptions & { expandPlatformData: boolean }) => {
        checkName(name);
        const token = await readToken(options);
        await withWarehouse(
          async (warehouse, { secretKey, api }) => {
            await checkSecretKey(warehouse, secretKey);
            await addConnection(warehouse, secretKey, {
              connectionId: name,
              apiAddress: api.address,
              token,
              expandPlatformData: options.expandPlatformData,
            });
          },
          ['database', 'api'],
        );
        print(`Added ${name}. Copy its records with: npx daybook sync ${name}`);
      })
  );
}

function setTokenCommand(): Command {
  return withTokenOptions(new Command('set-token'))
    .description('Give a connection another access token of the same company.')
    .argument('<name>')
    .addHelpText(
      'after',
      '\nExample:\n  $ echo "$TOKEN" | npx daybook connection set-token acme-us --token-stdin',
    )
    .action(async (name: string, options: TokenOptions) => {
      const token = await readToken(options);
      await withWarehouse(async (warehouse, { secretKey }) => {
        await checkSecretKey(warehouse, secretKey);
        await setToken(warehouse, secretKey, { connectionId: name, token });
      });
      print(`${name} has a new token.`);
    });
}

function listCommand(): Command {
  return new Command('list')
    .description('List the connections.')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ npx daybook connection list')
    .action(async ({ json }: { json?: true }) => {
      const connections = await withWarehouse((warehouse) => listConnections(warehouse));
      if (json === true) {
        printJson(connections);
        return;
      }
      if (connections.length === 0) {
        print('There are no connections yet. Add one with: npx daybook connection add NAME --token-stdin');
        return;
      }
      printTable(
        ['connection', 'platform', 'organisation', 'API', 'added'],
        connections.map((one) => [
          one.connection_id,
          one.platform,
          one.org_id,
          one.api_address,
          one.created_at,
        ]),
      );
    });
}

function removeCommand(): Command {
  return new Command('remove')
    .description('Remove a connection, its state, its records and their history.')
    .argument('<name>')
    .option('--keep-data', 'keep records and history', false)
    .addHelpText('after', '\nExample:\n  $ npx daybook connection remove acme-us --keep-data')
    .action(async (name: string, { keepData }: { keepData: boolean }) => {
      await withWarehouse((warehouse) => removeConnection(warehouse, { connectionId: name, keepData }));
      print(
        keepData
          ? `Removed ${name}; its records and history stay.`
          : `Removed ${name} and all of its records.`,
      );
    });
}

function withTokenOptions(command: Command): Command {
  return command
    .option('--token-stdin', 'read the access token from standard input')
    .option('--token-env <variable>', 'read the access token from this environment variable');
}

/** A token on the command line would be seen in the list of processes, so there is no such option. */
async function readToken({ tokenStdin, tokenEnv }: TokenOptions): Promise<string> {
  if ((tokenStdin === true) === (tokenEnv !== undefined)) {
    throw new UsageError(
      'Say where the access token comes from: either --token-stdin or --token-env VARIABLE.',
    );
  }
  const token = (tokenEnv === undefined ? await text(process.stdin) : (process.env[tokenEnv] ?? '')).trim();
  if (token === '') {
    throw new UsageError(
      tokenEnv === undefined
        ? 'Standard input held no access token.'
        : `The variable ${tokenEnv} is not set or empty.`,
    );
  }
  return token;
}

function checkName(name: string): void {
  if (/^[a-z0-9][a-z0-9-]{0,62}$/.test(name)) return;
  throw new UsageError(
    `"${name}" cannot be a connection's name: it takes lower-case letters, digits and hyphens, at most 63, and begins with a letter or digit.`,
  );
}
