import { expect, test } from 'vitest';
import { createInstallation } from '../support/installation.ts';
import { rows } from '../support/rows.ts';
import { statusesOf, sync, totalOf } from '../support/sync.ts';

const installation = await createInstallation();
const { warehouse, admin } = installation;
await installation.startWorker();

test('the first sync lands every field of every record exactly', async () => {
  const connection = await installation.connect({ records: 1_500 });
  const { run, failure } = await sync(installation, connection);
  expect(failure).toBeUndefined();
  expect(run.status).toBe('succeeded');
  const comparison = await installation.compare(connection);
  expect(comparison.differences).toEqual([]);
  expect(comparison.records).toBe(totalOf(run, 'inserted'));
  expect(comparison.values).toBeGreaterThan(20_000);
});

test('a second sync writes nothing to finance and history', async () => {
  const connection = await installation.connect();
  await sync(installation, connection);
  const before = await versionsOf(connection);
  const { run } = await sync(installation, connection);
  expect(run.status).toBe('succeeded');
  expect(totalOf(run, 'inserted')).toBe(0);
  expect(await versionsOf(connection)).toEqual(before);
});

test('a sync after changes lands them, and touched records make no new version', async () => {
  const connection = await installation.connect();
  await sync(installation, connection);
  const versions = await historyOf(connection);
  await admin.activity({ connection, changes: 3, touches: 5 });
  const { run } = await sync(installation, connection);
  expect(run.streams.reduce((sum, { updated }) => sum + updated, 0)).toBe(3 * 6);
  expect((await installation.compare(connection)).differences).toEqual([]);
  expect(await historyOf(connection)).toBe(versions + 3 * 6);
});

test('a platform without subscriptions has an unsupported stream, which is not asked for again within a day', async () => {
  const connection = await installation.connect({ platform: 'XERO' });
  const first = await sync(installation, connection);
  expect(first.failure).toBeUndefined();
  expect(first.run.status).toBe('succeeded');
  expect(statusesOf(first.run).subscriptions).toBe('unsupported');
  await admin.clearRequests();
  const second = await sync(installation, connection);
  expect(second.run.status).toBe('succeeded');
  const asked = (await admin.requests()).filter((request) => request.connection === connection);
  expect(asked.map(({ path }) => path)).not.toContain('/subscriptions');
  expect((await installation.compare(connection)).differences).toEqual([]);
});

/** Place and writer of every row: any write changes them. */
async function versionsOf(connection: string): Promise<unknown[]> {
  const tables = await rows(
    warehouse,
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname in ('finance', 'history') order by 1`,
  );
  const statements = tables.map(
    ({ name }) =>
      `select '${String(name)}' as name, count(*), sum(hashtextextended(ctid::text || xmin::text, 0))
       from ${String(name)} where connection_id = $1`,
  );
  return rows(warehouse, statements.join(' union all '), [connection]);
}

async function historyOf(connection: string): Promise<number> {
  const [row] = await rows(
    warehouse,
    'select count(*) as versions from history.record_versions where connection_id = $1',
    [connection],
  );
  return Number(row?.versions);
}
