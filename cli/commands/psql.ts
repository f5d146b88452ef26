import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { codeOf } from '../../errors/code-of.ts';
import { relayLogins } from '../../warehouse/session/login-relay.ts';
import { requireAuthOf } from '../../warehouse/session/require-auth.ts';
import { biUrl } from '../bi-url.ts';
import { UsageError } from '../errors.ts';
import { exitCodes, type ExitCode, type SetExitCode } from '../exit-codes.ts';

export function psqlCommand(setExitCode: SetExitCode): Command {
  return new Command('psql')
    .description('Open psql on the warehouse, with the login that "daybook url" names.')
    .argument('[arguments...]', 'arguments for psql, after "--"')
    .addHelpText(
      'after',
      '\nExample:\n  $ npx daybook psql\n  $ npx daybook psql -- --csv -c "table marts.vendors"',
    )
    .action(async (args: readonly string[]) => {
      const url = await biUrl();
      const isRelayed = requireAuthOf(url.href) !== undefined;
      setExitCode(await (isRelayed ? runPsqlRelayed(url, args) : runPsqlDirectly(url, args)));
    });
}

/** Passes the password in the environment, because everybody on the machine can read a command line. */
async function runPsqlDirectly(url: URL, args: readonly string[]): Promise<ExitCode> {
  const address = new URL(url);
  address.password = '';
  return runPsql(address.href, args, { ...process.env, PGPASSWORD: url.password });
}

/**
 * Logs in through this process if the address restricts how to log in, so that psql never holds the password. A psql before 16 cannot be
 * limited to SCRAM, and every psql reconnects by itself when the server goes away, to whatever process then listens on the port.
 */
async function runPsqlRelayed(url: URL, args: readonly string[]): Promise<ExitCode> {
  const folder = await mkdtemp(join(socketsFolder(), 'daybook-psql-'));
  try {
    const relay = await relayLogins(url.href, join(folder, `.s.PGSQL.${socketPort}`));
    try {
      return await runPsql(relayedAddress(url, folder), args, withoutConnecting(process.env));
    } finally {
      await relay.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The path of a socket is limited to 103 bytes on macOS. */
function socketsFolder(): string {
  return Buffer.byteLength(tmpdir()) <= 60 ? tmpdir() : '/tmp';
}

function relayedAddress(url: URL, folder: string): string {
  const parameters = new URLSearchParams({ host: folder, port: socketPort });
  for (const name of settingsOfSession) {
    const value = url.searchParams.getAll(name).at(-1);
    if (value !== undefined) parameters.set(name, value);
  }
  // libpq does not accept a plus sign for a space.
  return `postgres://${url.username}@${url.pathname}?${parameters.toString().replaceAll('+', '%20')}`;
}

/** Only a part of the socket's name. */
const socketPort = '5432';

/** The parameters of an address that concern the session, rather than reaching the server. */
const settingsOfSession = ['application_name', 'client_encoding', 'options'];

/** Removes variables that configure how to reach or verify the server, since this process does both. */
function withoutConnecting(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !ofConnecting.test(name)));
}

const ofConnecting =
  /^PG(HOST|HOSTADDR|PORT|USER|DATABASE|PASSWORD|REQUIREAUTH|REQUIREPEER|REQUIRESSL|CHANNELBINDING|SERVICE|SSL.*|GSS.*|TARGETSESSIONATTRS|LOADBALANCEHOSTS|M(IN|AX)PROTOCOLVERSION)$/;

/** Throws UsageError if psql is not installed. */
async function runPsql(address: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<ExitCode> {
  const psql = spawn('psql', ['--dbname', address, ...args], { stdio: 'inherit', env });
  // Ctrl-C belongs to psql, where it cancels a query. A signal that ends this process has to end psql first.
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => psql.kill(signal));
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
