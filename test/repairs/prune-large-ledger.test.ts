import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { expired, removeSql } from '../../warehouse/retention/expired-rows.ts';
import { removeOldSql } from '../../warehouse/retention/old-versions.ts';
import { indexesOnly } from '../../warehouse/transactions/indexes-only.ts';
import { openWarehouse, type Warehouse } from '../../warehouse/open-warehouse.ts';
import { pruneWarehouse, type Pruned } from '../../warehouse/retention/prune-warehouse.ts';
import { waitingSessions } from '../support/blocked-session.ts';
import { rowsLookedAt } from '../support/rows-looked-at.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse, adminUrl, url } = await createTestDatabase();
/** Has one session, so that its statistics can be asked for. */
const single = openWarehouse({ url, connections: 1 });
afterAll(() => single.close());

describe('a large ledger', () => {
  const perConnection = 250;
  const connections = 60;

  beforeEach(async () => {
    await warehouse.pool.query('truncate sync.runs, sync.run_streams');
    const ids: string[] = [];
    for (let index = 0; index < connections; index += 1) ids.push(await addTestConnection(warehouse));
    await warehouse.pool.query(
      `insert into sync.runs (run_id, connection_id, kind, status, workflow_id, temporal_run_id, reason, started_at, finished_at)
       select connection || '/' || hours, connection, 'sync', 'succeeded', '', '', 'test',
         now() - hours * interval '1 hour', now() - hours * interval '1 hour'
       from unnest($1::text[]) as connection, generate_series(1, $2 * 24, 24) as hours`,
      [ids, perConnection],
    );
    await warehouse.pool.query(
      `insert into sync.run_streams (run_id, connection_id, stream, status)
       select run_id, connection_id, 'bills', 'succeeded' from sync.runs`,
    );
    await warehouse.pool.query('analyze sync.runs, sync.run_streams');
  });

  const old = connections * (perConnection - 90);

  test('is pruned in batches, even by two prunes at the same time', async () => {
    const [one, other] = await Promise.all([prune(), prune()]);
    expect((one['sync.runs'] ?? 0) + (other['sync.runs'] ?? 0)).toBe(old);
    expect((one['sync.run_streams'] ?? 0) + (other['sync.run_streams'] ?? 0)).toBe(old);
    expect(await column('select count(*) from sync.run_streams')).toEqual([connections * 90]);
  });

  test('is pruned to the end by the next prune when one is killed', async () => {
    const blocker = await warehouse.pool.connect();
    await blocker.query('begin');
    // The oldest are taken first, so it is the second batch that has to wait.
    await blocker.query(
      `select from sync.run_streams s where run_id in (
         select run_id from sync.runs order by finished_at offset 6000 limit 1
       ) for update`,
    );
    const failed = expect(prune()).rejects.toThrow();
    const [pid] = await waitingSessions(adminUrl);
    await warehouse.pool.query('select pg_terminate_backend($1)', [pid]);
    await failed;
    await blocker.query('rollback');
    blocker.release();
    expect(await prune()).toMatchObject({ 'sync.runs': old - 5_000, 'sync.run_streams': old - 5_000 });
  });

  test('is pruned by statements that use indexes only', async () => {
    const values = ['2020-01-01', 5_000];
    const statements = expired.map((one) => ({ text: removeSql(one), values: [...values, '2019-01-01'] }));
    statements.push({ text: removeOldSql, values: [...values, '2019-01-01', '', '', ''] });
    for (const { text, values } of statements) {
      const client = await warehouse.pool.connect();
      try {
        await client.query(`begin; ${indexesOnly}`);
        const { rows: plan } = await client.query<{ 'QUERY PLAN': string }>(`explain ${text}`, values);
        const lines = plan.map((line) => line['QUERY PLAN']).join('\n');
        expect(lines).toMatch(/Index/);
        expect(lines).not.toMatch(/Seq Scan/);
      } finally {
        await client.query('rollback');
        client.release();
      }
    }
  });
});

describe('many remaining rows of one company', () => {
  const staying = 20_000;

  beforeEach(async () => {
    await warehouse.pool.query('truncate sync.runs, sync.run_streams, sync.quarantine, sync.discrepancies');
  });

  test('are not rescanned for each batch of deleted entries of others', async () => {
    const [flooded, other] = [await addTestConnection(warehouse), await addTestConnection(warehouse)];
    await warehouse.pool.query(
      `insert into sync.streams (connection_id, stream, resource, watermark) values ($1, 'bills', 'bills', now() - interval '1 year')`,
      [flooded],
    );
    await addClosed({ connection: flooded, status: 'discarded', daysAgo: 200, entries: staying });
    await addClosed({ connection: other, status: 'landed', daysAgo: 100, entries: 20_001 });
    await warehouse.pool.query('vacuum analyze sync.quarantine, sync.streams');
    const { found, looked } = await inOneSession('sync.streams', prune);
    expect(found).toMatchObject({ 'sync.quarantine': 20_001 });
    expect(looked).toBeLessThan(2 * staying);
    expect(await column('select count(*) from sync.quarantine')).toEqual([staying]);
  });

  test('are not rescanned for each deleted run of the company', async () => {
    const connection = await addTestConnection(warehouse);
    await warehouse.pool.query(
      `insert into sync.runs (run_id, connection_id, kind, status, workflow_id, temporal_run_id, reason, started_at, finished_at)
       select 'old ' || n, $1, 'reconcile', 'succeeded', '', '', 'test', now() - n * interval '1 day', now() - n * interval '1 day'
       from generate_series(100, 300) n`,
      [connection],
    );
    await warehouse.pool.query(
      `insert into sync.discrepancies (connection_id, resource, record_id, kind, status, version, run_id)
       select $1, 'bills', 'bill ' || n, 'extra', 'confirmed', now(), 'old 150' from generate_series(1, $2::int) n`,
      [connection, staying],
    );
    await warehouse.pool.query('vacuum analyze sync.discrepancies, sync.runs');
    const { found, looked } = await inOneSession('sync.discrepancies', prune);
    expect(found).toMatchObject({ 'sync.runs': 199 });
    expect(await column('select run_id from sync.runs order by 1')).toEqual(['old 100', 'old 150']);
    expect(looked).toBeLessThan(staying);
  });

  function inOneSession(
    table: string,
    work: (warehouse: Warehouse) => Promise<Pruned>,
  ): Promise<{ found: Pruned; looked: number }> {
    return rowsLookedAt(single, table, () => work(single));
  }

  async function addClosed(closed: {
    connection: string;
    status: 'landed' | 'discarded';
    daysAgo: number;
    entries: number;
  }): Promise<void> {
    const { connection, status, daysAgo, entries } = closed;
    await warehouse.pool.query(
      `insert into sync.quarantine (connection_id, resource, stream, entry_key, reason, payload, run_id, status, first_seen_at, last_seen_at,
         closed_at)
       select $1, 'bills', 'bills', 'bill ' || n, 'id is missing', '{}', 'run', $2, now(), now(),
         now() - $3 * interval '1 day' + n * interval '1 millisecond'
       from generate_series(1, $4::int) n`,
      [connection, status, daysAgo, entries],
    );
  }
});

function prune(of: Warehouse = warehouse): Promise<Pruned> {
  const keep = { runsMilliseconds: 90 * 86_400_000, historyMilliseconds: null };
  return pruneWarehouse(of, { keep, dryRun: false });
}

async function column(statement: string): Promise<unknown[]> {
  return (await rows(warehouse, statement)).map((found) => Object.values(found)[0]);
}
