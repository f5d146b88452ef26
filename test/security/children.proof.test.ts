import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDaybook } from '../support/daybook-process.ts';
import { findPlanted } from './find-planted.ts';
import { secrets } from './planted.ts';
import { recordDescendants, type Descendant } from './record-descendants.ts';

/**
 * Checks all child processes while Daybook runs with nothing but planted secrets: Postgres, Temporal, Python. The compiler for the sources
 * of a checkout is not part of a release.
 */
const isLinux = process.platform === 'linux';
let children: Descendant[];
let ownerPassword = '';
let files: string[];

beforeAll(async () => {
  if (!isLinux) return;
  const cwd = await mkdtemp(join(tmpdir(), 'daybook-children-'));
  afterAll(() => rm(cwd, { recursive: true, force: true }));
  const options = { cwd, env: environment(cwd) };
  await writeFile(join(cwd, 'platform.py'), `open('was-run', 'w')`);
  const up = startDaybook(['up'], options);
  afterAll(() => up.stop());
  const ancestors = new Set([up.pid]);
  const recorded = recordDescendants(ancestors);
  await up.waitForOutput(/Running\. Stop with Ctrl-C/);
  ownerPassword = (await readFile(join(cwd, 'home', 'postgres.password'), 'utf8')).trim();
  const build = startDaybook(['dbt', 'build'], options);
  ancestors.add(build.pid);
  expect(await build.ended).toMatchObject({ code: 0 });
  files = await readdir(cwd);
  children = (await recorded()).filter(({ name }) => name !== 'esbuild');
}, 180_000);

test.runIf(isLinux)('the checked processes include Postgres, its sessions, Temporal and dbt', () => {
  const told = children.map(({ commandLine }) => commandLine).join('\n');
  for (const program of [/postgres .*-D/, /postgres: daybook/, /server start-dev/, /run_dbt\.py/])
    expect(told).toMatch(program);
});

test.runIf(isLinux)('child processes have no secret in their command line, title or name', () => {
  const places = children.map(({ commandLine, name }) => ({
    name: commandLine,
    content: `${commandLine} ${name}`,
  }));
  expect(findPlanted(places, { ...secrets, ownerPassword })).toEqual([]);
});

test.runIf(isLinux)(
  'child processes have no secret in their environment, except dbt’s database password',
  () => {
    const places = children.map(({ commandLine, environment: content }) => ({ name: commandLine, content }));
    expect(findPlanted(places, secrets)).toEqual([]);
    const told = findPlanted(places, { ownerPassword });
    expect(told.filter((place) => !/run_dbt\.py|multiprocessing/.test(place))).toEqual([]);
    expect(told.length).toBeGreaterThan(0);
  },
);

test.runIf(isLinux)('Python runs no code from the folder in which the command is typed', () => {
  expect(files).toContain('platform.py');
  expect(files).not.toContain('was-run');
});

test.runIf(isLinux)('child processes leave none of their memory in a core dump', () => {
  for (const { commandLine, dumped } of children) expect(dumped, commandLine).toMatch(/^\S+ 0+$/);
});

function environment(cwd: string): Record<string, string> {
  const { clientId, clientSecret, alertToken, alertPassword } = secrets;
  return {
    DAYBOOK_API_URL: 'http://127.0.0.1:9/versioned',
    DAYBOOK_CLIENT_ID: clientId,
    DAYBOOK_CLIENT_SECRET: clientSecret,
    DAYBOOK_SECRET_KEY: secrets.secretKey.toString('base64'),
    DAYBOOK_CONSOLE_PASSWORD: secrets.consolePassword,
    DAYBOOK_ALERT_URL: `http://alerts:${encodeURIComponent(alertPassword)}@127.0.0.1:8/${alertToken}`,
    AWS_ACCESS_KEY_ID: secrets.s3Key,
    AWS_SECRET_ACCESS_KEY: secrets.s3Secret,
    PGPASSWORD: secrets.databasePassword,
    DAYBOOK_HOME: join(cwd, 'home'),
    DAYBOOK_HTTP_PORT: '0',
  };
}
