import { expect, test } from 'vitest';
import { publishMarts } from '../../warehouse/marts/publish-marts.ts';
import { inOneBuild, MartsMissing } from '../../warehouse/marts/in-one-build.ts';
import { openConsole } from '../console/open-console.ts';
import { eventually } from '../support/eventually.ts';
import { createInstallation } from '../support/installation.ts';
import { row } from '../support/rows.ts';

const installation = await createInstallation();
const { warehouse } = installation;

test('the page and the command say what to run if there are no marts', async () => {
  const url = await openConsole(installation);
  const page = await (await fetch(`${url}/dashboard`)).text();
  expect(page).toContain('build them with &quot;npx daybook dbt build&quot;');
  const { code, stderr, stdout } = await installation.run(['dashboard', '--out', 'dashboard.html']);
  expect(code).toBe(2);
  expect(stderr).toBe(
    'The marts of this version are not built yet: build them with "npx daybook dbt build".\n',
  );
  expect(stdout).toBe('');
});

test('the password of the console protects the dashboard too', async () => {
  const url = await openConsole(installation, { consolePassword: 'open sesame' });
  for (const path of ['/dashboard', '/assets/dashboard.js', '/assets/echarts.js'])
    expect((await fetch(url + path)).status, path).toBe(401);
});

test('queries that run together read one build, even while a new one is published', async () => {
  await publish('marts_a', 'select 1 as build');
  const read = inOneBuild(warehouse, shown, async (run) => {
    await run('select pg_sleep(1)');
    return run(builds);
  });
  await eventually(async () => ((await isPausing()) ? true : undefined));
  const published = publish('marts_b', 'select 2 as build');
  expect((await read).rows).toEqual([[1]]);
  await published;
  expect((await inOneBuild(warehouse, shown, (run) => run(builds))).rows).toEqual([[2]]);
});

test('a mart of another version counts as missing', async () => {
  const read = inOneBuild(warehouse, shown, (run) => run('select later from marts.bills'));
  await expect(read).rejects.toThrow(MartsMissing);
});

const shown = { marts: ['bills'] };
const builds = 'select build from marts.bills';

async function isPausing(): Promise<unknown> {
  const { pausing } = await row(
    warehouse,
    `select count(*) > 0 as pausing from pg_stat_activity
     where datname = current_database() and query = 'select pg_sleep(1)' and state = 'active'`,
  );
  return pausing;
}

async function publish(schema: 'marts_a' | 'marts_b', content: string): Promise<void> {
  const client = await warehouse.pool.connect();
  try {
    await client.query(
      `create schema if not exists ${schema}; create table ${schema}.bills as ${content};
       comment on table ${schema}.bills is 'bills'; comment on column ${schema}.bills.build is 'build'`,
    );
    await publishMarts(client, { schema });
  } finally {
    client.release();
  }
}
