import { tmpdir } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { checkSchema, migrate } from '../../warehouse/schema/migrate.ts';
import { runDaybook, startDaybook } from '../support/daybook-process.ts';
import { repeatStatements } from '../support/repeat-statements.ts';
import { loadReleased } from '../support/load-released.ts';
import { proofTest } from '../support/proof-test.ts';
import { row, rows } from '../support/rows.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

/** Warehouses as 0.5.0 left them, which people read meanwhile. */
const [read, killed, left] = await Promise.all([ofRelease(), ofRelease(), ofRelease()]);

test('a migration that waits for a reader names it, blocks others for about a second at most, and succeeds', async () => {
  const { url, warehouse } = read;
  const reader = await holdDeletedRecords(read);
  const others = repeatStatements(url, {
    deleted: 'select count(*) from finance.deleted_records',
    connections: 'select count(*) from finance.connections',
    bills: 'select count(*) from finance.bills',
    runs: 'select count(*) from sync.runs',
    streams: 'select count(*) from sync.streams',
  });
  const said: string[] = [];
  const migrating = migrate(warehouse, (text) => said.push(text));
  await pause(6_000);
  await reader.end();
  await migrating;
  await checkSchema(warehouse);
  expect(await others.stopAndMeasure()).toBeLessThan(1_500);
  expect(said).toEqual([
    expect.stringMatching(
      /^migration 2026-[a-z0-9-]+ waits for postgres \(session \d+, Tableau\), in a transaction for at least \d+ s$/,
    ),
  ]);
});

test('a migrate command killed between two migrations keeps what was done, and the next one continues', async () => {
  const { warehouse } = killed;
  const before = await migrated(killed);
  const reader = await holdDeletedRecords(killed);
  const first = startDaybook(['migrate'], optionsOf(killed));
  await first.waitForOutput(/waits for postgres/);
  await first.stop('SIGKILL');
  const done = await migrated(killed);
  expect(done.length).toBeGreaterThan(before.length);
  await expect(checkSchema(warehouse)).rejects.toThrow('older than this release');

  // Two concurrent migrations share the work, and both end when the reader has.
  const both = [1, 2].map(() => runDaybook(['migrate', '--json'], optionsOf(killed)));
  await pause(3_000);
  await reader.end();
  const ended = await Promise.all(both);
  expect(ended.map(({ code }) => code)).toEqual([0, 0]);
  const applied = ended.flatMap(({ stdout }) => (JSON.parse(stdout) as { applied: string[] }).applied);
  expect([...done, ...applied].sort()).toEqual((await migrated(killed)).sort());
  await checkSchema(warehouse);
});

proofTest('an index left half built is dropped and rebuilt', async () => {
  const { warehouse } = left;
  await warehouse.pool
    .query('create unique index concurrently runs_started_at_idx on sync.runs (status)')
    .catch(() => undefined);
  expect(await rows(warehouse, isValid)).toEqual([{ indisvalid: false }]);
  await migrate(warehouse);
  expect(await rows(warehouse, isValid)).toEqual([{ indisvalid: true }]);
  const { definition } = await row(
    warehouse,
    `select pg_get_indexdef('sync.runs_started_at_idx'::regclass) as definition`,
  );
  expect(definition).toContain('INDEX runs_started_at_idx ON sync.runs USING btree (started_at) WHERE');
});

const isValid = `select indisvalid from pg_index where indexrelid = to_regclass('sync.runs_started_at_idx')`;

async function ofRelease(): Promise<TestDatabase> {
  const database = await createTestDatabase('template template0');
  await loadReleased({ version: 'v0.5.0', url: database.url });
  return database;
}

async function migrated({ warehouse }: TestDatabase): Promise<string[]> {
  return (await rows(warehouse, 'select name from sync.migrations')).map(({ name }) => String(name));
}

/** Reads tombstones as a foreign application, in a transaction that stays open. */
async function holdDeletedRecords({ adminUrl }: TestDatabase): Promise<pg.Client> {
  const reader = new pg.Client({ connectionString: adminUrl, application_name: 'Tableau' });
  await reader.connect();
  onTestFinished(() => reader.end().catch(() => undefined));
  await reader.query('begin; select count(*) from finance.deleted_records');
  return reader;
}

function optionsOf({ url }: TestDatabase): { cwd: string; env: Record<string, string> } {
  return {
    cwd: tmpdir(),
    env: { DATABASE_URL: url, DAYBOOK_SECRET_KEY: Buffer.alloc(32, 'k').toString('base64') },
  };
}
