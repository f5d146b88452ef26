import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../embedded/free-port.ts';
import { openHome } from '../../embedded/home.ts';
import { startPostgres, type PostgresServer } from '../../embedded/postgres.ts';
import { processTable } from '../../embedded/process-table.ts';
import { query } from '../embedded/query.ts';
import { startEmbeddedProcess } from '../embedded/embedded-process.ts';
import { temporaryFolder, temporaryHome } from '../embedded/temporary-folder.ts';
import { proofTest } from '../support/proof-test.ts';

/** An attacker who saw the address that `daybook up` prints, or a login for readers. */

test('the printed address does not make anyone superuser, and its owner can read no files and run no programs', async () => {
  const { url } = await postgresIn(await temporaryFolder());
  const asSuperuser = new URL(url);
  asSuperuser.username = asSuperuser.pathname = 'postgres';
  await expect(query(asSuperuser.href, 'select')).rejects.toThrow(/password authentication failed/);
  for (const statement of [
    `copy (select 1) to program 'env'`,
    `select pg_read_file('postgresql.conf')`,
    `select lo_import('/etc/passwd')`,
    'grant pg_execute_server_program to daybook',
    'create role another superuser',
    `alter role postgres password 'mine'`,
    'create extension dblink',
    `alter system set archive_command = 'env'`,
  ])
    await expect(query(url, statement), statement).rejects.toThrow(/permission denied|must be|Only roles/);
});

test('the owner cannot become superuser by shadowing functions that a start calls', async () => {
  const folder = await temporaryFolder();
  const first = await postgresIn(folder);
  await query(first.url, 'create schema evil');
  for (const schema of ['evil', 'public'])
    await query(
      first.url,
      `create function ${schema}.has_function_privilege(text, oid, text) returns boolean language plpgsql as
       $$ begin alter role daybook superuser; return false; end $$`,
    );
  await query(first.url, 'alter database daybook set search_path = evil, pg_catalog');
  await first.stop();
  const second = await postgresIn(folder);
  expect(await query(second.url, `select rolsuper from pg_roles where rolname = 'daybook'`)).toEqual([
    { rolsuper: false },
  ]);
});

test('the servers inherit no environment variables except those that locate programs and libraries', async () => {
  process.env.DAYBOOK_CLIENT_SECRET = 'planted in the environment';
  onTestFinished(() => {
    delete process.env.DAYBOOK_CLIENT_SECRET;
  });
  const home = await temporaryHome();
  const up = await startEmbeddedProcess(home, 'temporal', 'sandbox');
  const servers = (await processTable()).filter(
    ({ pid, commandLine }) =>
      pid !== up.pid && commandLine.includes(home) && !commandLine.includes('embedded-main'),
  );
  expect(servers).toHaveLength(2);
  for (const { pid, commandLine } of servers) {
    const environment = (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0').filter(Boolean);
    expect(environment.map(parseVariableName).filter(isUncalledFor), commandLine).toEqual([]);
  }
  const { adminUrl } = await postgresIn(await temporaryFolder());
  const environment = await runProgram(adminUrl, 'env');
  expect(environment.map(parseVariableName).filter(isUncalledFor)).toEqual([]);
});

test.runIf(process.getuid?.() === 0)(
  'Postgres started by root has no rights beyond its own data: its superuser cannot read a key of the home',
  async () => {
    const home = await temporaryHome();
    const { secretKeyFile } = await openHome(home);
    await writeFile(secretKeyFile, 'a key', { mode: 0o600 });
    const { adminUrl, dataDir } = await postgresIn(home);
    const [pid] = (await readFile(join(dataDir, 'postmaster.pid'), 'utf8')).split('\n');
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    const capabilities = [...status.matchAll(/^Cap(\w+):\s+(\w+)$/gm)].map(([, set, value]) => [set, value]);
    expect(capabilities).toHaveLength(5);
    for (const capability of capabilities)
      expect(capability).toEqual([expect.any(String), '0000000000000000']);
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(status).not.toMatch(/^[UG]id:.*\b0\b/m);
    for (const file of [secretKeyFile, '/etc/shadow', `${dataDir}.superuser`, '/proc/1/environ'])
      await expect(query(adminUrl, `select pg_read_file('${file}')`), file).rejects.toThrow(
        /Permission denied/,
      );
  },
);

proofTest(
  "a home from 0.5.0, whose superuser shared the owner's password, gets a separate one at the next start and keeps its data",
  async () => {
    const folder = await temporaryFolder();
    const first = await postgresIn(folder);
    await query(first.url, 'create table kept as select 1 as n');
    const shared = new URL(first.url).password;
    await query(first.adminUrl, 'grant all on database postgres to public');
    await query(first.adminUrl, `alter role postgres password ${pg.escapeLiteral(shared)}`);
    await first.stop();
    await rm(join(folder, 'postgres.superuser'));

    const second = await postgresIn(folder);
    expect(new URL(second.url).password).toBe(shared);
    const asSuperuser = new URL(second.url);
    asSuperuser.username = asSuperuser.pathname = 'postgres';
    await expect(query(asSuperuser.href, 'select')).rejects.toThrow(/password authentication failed/);
    expect(await query(second.url, 'select n from kept')).toEqual([{ n: 1 }]);
    expect((await stat(join(folder, 'postgres.superuser'))).mode & 0o777).toBe(0o600);
  },
);

test('a login of the embedded Postgres cannot connect to other databases or fill the disk with public functions', async () => {
  const { url, adminUrl } = await postgresIn(await temporaryFolder());
  await query(adminUrl, `create role analyst login password 'reads'`);
  const login = new URL(url);
  login.username = 'analyst';
  login.password = 'reads';
  for (const database of ['postgres', 'template1']) {
    login.pathname = database;
    await expect(query(login.href, 'select')).rejects.toThrow(/permission denied for database/);
  }
  login.pathname = 'daybook';
  for (const statement of [
    'select lo_create(0)',
    'select lo_creat(-1)',
    `select lo_from_bytea(0, 'content')`,
    `select pg_logical_emit_message(false, 'much', repeat('x', 1000))`,
    'select pg_export_snapshot()',
  ])
    await expect(query(login.href, statement), statement).rejects.toThrow(/permission denied/);
  await query(url, 'begin; select pg_export_snapshot(); rollback');
});

proofTest(
  'notifications, which any login may send, are refused before they fill the disk of the embedded Postgres',
  async () => {
    const { url } = await postgresIn(await temporaryFolder());
    const send = `select count(pg_notify('all', n || repeat('y', 7900))) from generate_series(1, 8200) n`;
    await expect(query(url, send)).rejects.toThrow('too many notifications in the NOTIFY queue');
  },
);

function parseVariableName(line: string): string {
  return line.split('=')[0] ?? '';
}

/** Variables other than those of the system, of Postgres (PG…, LC_…), and of the shell that it starts (PWD, SHLVL, _). */
function isUncalledFor(name: string): boolean {
  return !/^(PATH|HOME|TMPDIR|LD_LIBRARY_PATH|NIX_LD(_LIBRARY_PATH)?|PG\w+|LC_\w+|PWD|OLDPWD|SHLVL|_)$/.test(
    name,
  );
}

/** The output, line by line, of a program that the superuser runs. */
async function runProgram(adminUrl: string, program: string): Promise<string[]> {
  const client = new pg.Client(adminUrl);
  await client.connect();
  try {
    await client.query('create temporary table said (line text)');
    await client.query(`copy said from program ${pg.escapeLiteral(program)}`);
    const { rows } = await client.query<{ line: string }>('select line from said');
    return rows.map(({ line }) => line);
  } finally {
    await client.end();
  }
}

async function postgresIn(folder: string): Promise<PostgresServer & { dataDir: string }> {
  const dataDir = join(folder, 'postgres');
  const server = await startPostgres({ dataDir, port: await freePort() });
  onTestFinished(() => server.stop());
  return { ...server, dataDir };
}
