import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { postgresOutput } from '../../marts/postgres-output.ts';
import { withBuildLock } from '../../warehouse/marts/build-lock.ts';
import { query } from '../embedded/query.ts';
import { createTestLake } from '../lake/create-test-lake.ts';
import { proofTest, some } from '../support/proof-test.ts';
import { rows } from '../support/rows.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { dbtFolder } from './marts-of.ts';
import { runDbtByHand } from './run-dbt-by-hand.ts';

const { warehouse, url, adminUrl } = await createTestDatabase();
const lake = await createTestLake(url);
const project = await mkdtemp(join(tmpdir(), 'daybook-test-rules-'));
afterAll(() => rm(project, { recursive: true, force: true }));
let snapshot: string;

beforeAll(async () => {
  await query(adminUrl, `alter database ${new URL(url).pathname.slice(1)} set temp_file_limit = '100MB'`);
  const { output, secrets } = postgresOutput(url, '');
  const outputs = {
    postgres: { ...output, threads: 2, password: Object.values(secrets)[0] },
    lake: { type: 'duckdb', path: join(project, 'rules.duckdb'), schema: 'main', threads: 2 },
  };
  await cp(dbtFolder, project, { recursive: true });
  await writeFile(join(project, 'profiles.yml'), JSON.stringify({ daybook: { target: 'lake', outputs } }));
  snapshot = join(lake.location, 'snapshots', (await lake.exportNow()).snapshotId);
});

test.each(some(['postgres', 'lake']))('every dbt unit test of the models passes on %s', async (target) => {
  const said = await runDbtByHand(
    ['build', '--empty', '--exclude-resource-type', 'test', '--target', target, '--vars', vars()],
    { cwd: project },
  );
  expect(said).toMatch(/(\d{2}) unit tests/);
  expect(said).toContain('Completed successfully');
});

test('dbt writes nothing into Postgres for a build whose lock another one has', async () => {
  await withBuildLock({ databaseUrl: url, target: 'postgres' }, async ({ transaction }) => {
    const copied = (): Promise<unknown[]> =>
      rows(warehouse, `select from pg_tables where schemaname = 'captured'`);
    const capture = (lock: string): Promise<string> =>
      runDbtByHand(['run', '--select', 'dates', '--empty', '--target', 'postgres', '--vars', vars()], {
        cwd: project,
        env: { DAYBOOK_BUILD_LOCK: lock },
      });
    await rows(warehouse, 'drop schema if exists captured cascade');
    await expect(capture(`${transaction}1`)).rejects.toThrow('This build has lost its lock');
    expect(await copied()).toEqual([]);
    await capture(transaction);
    expect(await copied()).not.toEqual([]);
    // dbt would parse all models again for the next build.
    const parsed = await readFile(join(project, 'target', 'partial_parse.msgpack'));
    expect(parsed.includes(transaction)).toBe(false);
  });
});

// Beyond a million and a half rows Postgres no longer hashes the subquery's result, and scans all its rows for each outer row.
test('no model or macro has an "exists" in a select expression', async () => {
  const files = (await readdir(dbtFolder, { recursive: true })).filter((name) =>
    /^(models|macros)\/.*\.sql$/.test(name),
  );
  const texts = await Promise.all(files.map((name) => readFile(join(dbtFolder, name), 'utf8')));
  expect(files.length).toBeGreaterThan(75);
  expect(
    files.filter((_, place) => /(when|,|select)\s+(not\s+)?exists\s*\(/.test(texts[place] ?? '')),
  ).toEqual([]);
});

proofTest('dbt docs generate describes every column of every model, seed and source', async () => {
  await runDbtByHand(['docs', 'generate', '--target', 'postgres', '--vars', vars()], { cwd: project });
  const [catalog, manifest] = await Promise.all(['catalog', 'manifest'].map(readArtifact));
  const relations = Object.entries({ ...catalog?.nodes, ...catalog?.sources });
  expect(relations.length).toBeGreaterThan(75);
  const undocumented = relations.flatMap(([id, relation]) => {
    const described = { ...manifest?.nodes, ...manifest?.sources }[id]?.columns ?? {};
    const names = Object.keys(relation?.columns ?? {});
    return names.filter((name) => (described[name]?.description ?? '') === '').map((name) => `${id}.${name}`);
  });
  expect(undocumented).toEqual([]);
});

function vars(): string {
  return JSON.stringify({ daybook_snapshot: snapshot, daybook_capture_schema: 'captured' });
}

/** `target/catalog.json` has the database's content, `target/manifest.json` the project's. */
async function readArtifact(name: string): Promise<Artifact> {
  return JSON.parse(await readFile(join(project, 'target', `${name}.json`), 'utf8')) as Artifact;
}

type Artifact = Record<
  'nodes' | 'sources',
  Record<string, { columns: Record<string, { description?: string }> } | undefined>
>;
