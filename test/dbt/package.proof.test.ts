import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { postgresOutput } from '../../marts/postgres-output.ts';
import { bill, list, billLine } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { row } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { dbtFolder } from './marts-of.ts';
import { runDbtByHand } from './run-dbt-by-hand.ts';

const { warehouse, url } = await createTestDatabase();
const project = await mkdtemp(join(tmpdir(), 'daybook-test-project-'));
afterAll(() => rm(project, { recursive: true, force: true }));

beforeAll(async () => {
  const connectionId = await addTestConnection(warehouse);
  const lines = list(billLine({ total_amount: '10.5', sub_total: '10.5', tax_amount: '0' }));
  await land(warehouse, {
    connectionId,
    stream: 'bills',
    pages: [[bill('b1', { status: '"open"', total_amount: '12.345', line_items: lines })]],
  });
  const { output, secrets } = postgresOutput(url, '');
  const profile = { ...output, schema: 'analytics', threads: 2, password: Object.values(secrets)[0] };
  await mkdir(join(project, 'models'));
  await Promise.all([
    writeFile(join(project, 'dbt_project.yml'), 'name: mine\nprofile: mine\nmodel-paths: [models]\n'),
    writeFile(join(project, 'packages.yml'), `packages:\n  - local: ${dbtFolder}\n`),
    writeFile(
      join(project, 'profiles.yml'),
      JSON.stringify({ mine: { target: 'dev', outputs: { dev: profile } } }),
    ),
    writeFile(
      join(project, 'models', 'my_spend.sql'),
      `select sum(gross_amount) as spend from {{ ref('daybook', 'spend_lines') }}`,
    ),
  ]);
});

test("a user's dbt project can build on the models as a package, in schemas of its own", async () => {
  await runDbtByHand(['deps'], { cwd: project });
  await runDbtByHand(['build', '--select', '+my_spend', '--indirect-selection', 'buildable'], {
    cwd: project,
  });
  expect(await row(warehouse, 'select spend::text from analytics.my_spend')).toEqual({
    spend: '12.345000000',
  });
  expect(
    await row(
      warehouse,
      `select array_agg(distinct schemaname::text order by schemaname::text) as schemas
       from (select schemaname from pg_tables union select schemaname from pg_views) as made where schemaname !~ '^(pg_|information_schema|finance|history|iceberg|sync|public)'`,
    ),
  ).toEqual({
    schemas: [
      'analytics',
      'analytics_captured',
      'analytics_intermediate',
      'analytics_marts',
      'analytics_staging',
    ],
  });
});

test('the freshness of the source is measured by the last successful sync, not by the last change', async () => {
  await warehouse.pool.query(`update sync.streams set last_success_at = now() - interval '2 days'`);
  await runDbtByHand(['source', 'freshness'], { cwd: project });
  const said = await readFile(join(project, 'target', 'sources.json'), 'utf8');
  const { results } = JSON.parse(said) as { results: { status: string }[] };
  expect(results.map(({ status }) => status)).toEqual(['warn']);
});
