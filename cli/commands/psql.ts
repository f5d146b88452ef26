import { spawn } from 'node:child_process';
import { Command } from 'commander';
import { codeOf } from '../../errors/code-of.ts';
import { requireAuthOf, requireAuthVariable, withoutRequireAuth } from '../../warehouse/require-auth.ts';
import { biUrl } from '../bi-url.ts';
import { UsageError } from '../errors.ts';
import { exitCodes, type ExitCode, type SetExitCode } from '../exit-codes.ts';

export function psqlCommand(setExitCode: SetExitCode): Command {
  return new Command('psql')
    .description('Open psql on the warehouse, with the login that "daybook url" names.')
    .argument('[arguments...]', 'behind "--", what psql is given')
    .addHelpText(
      'after',
      '\nExample:\n  $ npx daybook psql\n  $ npx daybook psql -- --csv -c "table marts.vendors"',
    )
    .action(async (args: readonly string[]) => {
      setExitCode(await runPsql(await biUrl(), args));
    });
}

/**
 * The password goes by the environment: everybody on the machine can read a command line. So does how to log in: a psql before 16
 * ignores that there, and it was just seen that the server is the right one. Throws UsageError without psql.
 */
async function runPsql(url: URL, args: readonly string[]): Promise<ExitCode> {
  const address = withoutRequireAuth(url);
  const requireAuth = requireAuthOf(url.href);
  address.password = '';
  // Ctrl-C is psql's: it cancels a query there.
  process.on('SIGINT', () => undefined);
  const psql = spawn('psql', ['--dbname', address.href, ...args], {
    stdio: 'inherit',
    env: {
      ...process.env,
      PGPASSWORD: url.password,
      ...(requireAuth === undefined ? {} : { [requireAuthVariable]: requireAuth }),
    },
  });
  return new Promise((resolve, reject) => {
    psql.once('error', (error) => {
      reject(codeOf(error) === 'ENOENT' ? notInstalled() : error);
    });
    psql.once('exit', (code) => {
      resolve(code === 0 ? exitCodes.done : exitCodes.failed);
    });
  });
}

function notInstalled(): UsageError {
  return new UsageError(
    'psql is not on the PATH: install the client of PostgreSQL ("apt-get install postgresql-client", "brew install libpq"), or use "npx daybook sql" or another tool with the URL of "npx daybook url".',
  );
}
