import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll } from 'vitest';
import { freePort } from '../../embedded/free-port.ts';
import { startPostgres } from '../../embedded/postgres.ts';
import { startSandbox } from '../../sandbox/start-sandbox.ts';
import { startDaybook, type DaybookProcess } from '../support/daybook-process.ts';
import { pathWithoutPython } from '../support/path-without-python.ts';
import { createSandboxAdmin, type SandboxAdmin } from '../support/sandbox-admin.ts';
import { companies, tokenOf } from './companies.ts';
import { startEchoingService } from './echoing-service.ts';
import type { Place } from './find-planted.ts';
import { secrets } from './planted.ts';
import { recordCommandLines } from './record-command-lines.ts';
import { runCommandLines } from './run-command-lines.ts';

/**
 * An installation with planted secrets only. Its Postgres and Temporal are its own, so that their files can be searched, and its service
 * repeats its requests.
 */
export async function startPlantedInstallation(): Promise<PlantedInstallation> {
  const cwd = await mkdtemp(join(tmpdir(), 'daybook-planted-'));
  const postgresData = join(cwd, 'postgres');
  const postgres = await startPostgres({ dataDir: postgresData, port: await freePort() });
  afterAll(async () => {
    await postgres.stop();
    await rm(cwd, { recursive: true, force: true });
  });
  await plantPassword(postgres.adminUrl);
  const { clientId, clientSecret } = secrets;
  const sandbox = await startSandbox({ clientId, clientSecret, records: 100 });
  afterAll(() => sandbox.close());
  const apiUrl = await startEchoingService(sandbox.url, echoes);
  const env = environment({ databasePort: postgres.port, apiUrl, home: join(cwd, 'home') });
  const said: Place[] = [];
  const commandLines = recordCommandLines();
  // Marts would take as long as everything else.
  const up = startDaybook(['up'], { cwd, env: { ...env, ...(await pathWithoutPython(cwd)) } });
  afterAll(() => up.stop());
  await up.waitForOutput(/Running\. Stop with Ctrl-C/);
  return {
    cwd,
    env,
    up,
    outputs: said,
    commandLines,
    postgresFiles: [postgresData, `${postgresData}.log`],
    admin: createSandboxAdmin(sandbox.adminUrl),
    adminUrl: new URL('daybook', postgres.adminUrl).href,
    stopPostgres: () => postgres.stop(),
    async daybook(lines, more = {}) {
      // With the password in front of the host; the worker has it as a parameter.
      const DATABASE_URL = `postgres://daybook:${encodeURIComponent(secrets.databasePassword)}@127.0.0.1:${postgres.port}/daybook`;
      const name = `${said.length}: ${lines.map((line) => line.join(' ')).join(', ')}`;
      const content = await runCommandLines(lines, { cwd, env: { ...env, DATABASE_URL, ...more } });
      said.push({ name, content });
      return content;
    },
  };
}

export interface PlantedInstallation {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly admin: SandboxAdmin;
  readonly up: DaybookProcess;
  /** Connects to the database as superuser. */
  readonly adminUrl: string;
  readonly postgresFiles: readonly string[];
  readonly stopPostgres: () => Promise<void>;
  /** The output of every command that ran. */
  readonly outputs: readonly Place[];
  /** Ends the recording, and returns what the list of processes has shown. */
  readonly commandLines: () => Promise<Place>;
  /** Runs command lines, a few at a time, and returns their output. */
  readonly daybook: (
    lines: readonly (readonly string[])[],
    env?: Readonly<Record<string, string>>,
  ) => Promise<string>;
}

const echoes = Object.fromEntries(
  companies.flatMap((company) => (company.echo === undefined ? [] : [[tokenOf(company), company.echo]])),
);

/** Also makes Postgres log every statement with its values from then on. */
async function plantPassword(adminUrl: string): Promise<void> {
  const client = new pg.Client(adminUrl);
  await client.connect();
  await client.query(`alter role daybook password ${pg.escapeLiteral(secrets.databasePassword)}`);
  await client.query(`alter system set log_statement = 'all'`);
  await client.query('select pg_reload_conf()');
  await client.end();
}

function environment(of: { databasePort: number; apiUrl: string; home: string }): Record<string, string> {
  const { alertPassword, alertToken, databasePassword } = secrets;
  const alerts = `http://alerts:${encodeURIComponent(alertPassword)}@127.0.0.1:8/${alertToken}?token=${alertToken}`;
  return {
    DATABASE_URL: `postgres://daybook@127.0.0.1:${of.databasePort}/daybook?password=${encodeURIComponent(databasePassword)}`,
    DAYBOOK_API_URL: of.apiUrl,
    DAYBOOK_CLIENT_ID: secrets.clientId,
    DAYBOOK_CLIENT_SECRET: secrets.clientSecret,
    DAYBOOK_SECRET_KEY: secrets.secretKey.toString('base64'),
    DAYBOOK_CONSOLE_PASSWORD: secrets.consolePassword,
    DAYBOOK_ALERT_URL: alerts,
    DAYBOOK_HOME: of.home,
    DAYBOOK_HTTP_PORT: '0',
    DAYBOOK_GIVE_UP_AFTER: '1s',
    DAYBOOK_LOG_LEVEL: 'debug',
    AWS_ACCESS_KEY_ID: secrets.s3Key,
    AWS_SECRET_ACCESS_KEY: secrets.s3Secret,
  };
}
