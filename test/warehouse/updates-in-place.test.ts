import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { migrate } from '../../warehouse/schema/migrate.ts';
import { openWarehouse } from '../../warehouse/open-warehouse.ts';
import { eventually } from '../support/eventually.ts';
import { bill, type Fields } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { startTestPostgres } from '../support/postgres-server.ts';
import { isProof } from '../support/proof-test.ts';
import { row, rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';

// A separate server, because a page keeps rows that an open transaction of any database, or an analysis, might still see.
const folder = await mkdtemp(join(tmpdir(), 'daybook-updates-'));
const server = await startTestPostgres(folder, { autovacuum: 'off' });
const warehouse = openWarehouse({ url: server.url, connections: 10 });
afterAll(async () => {
  await warehouse.close();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});
await migrate(warehouse);

test('nine of ten touched records are updated in place, without index writes', async () => {
  const connectionId = await addTestConnection(warehouse);
  const ids = Array.from({ length: isProof ? 6_000 : 2_000 }, (_, index) => `bill-${index}`);
  const landAll = async (chosen: readonly string[], fields: Fields): Promise<void> => {
    const pages = Array.from({ length: Math.ceil(chosen.length / 500) }, (_, page) =>
      chosen.slice(page * 500, (page + 1) * 500).map((id) => bill(id, fields)),
    );
    await land(warehouse, { connectionId, stream: 'bills', pages });
  };
  await landAll(ids, {});
  // One of twenty bills comes again under another version. Other content would move `_changed_at`, which has an index.
  for (const round of [0, 1, 2, 3, 4, 5]) {
    const chosen = ids.filter((_, index) => index % 20 === round * 3);
    await landAll(chosen, { last_synced_at: `"2026-11-0${round + 1}T00:00:00.000Z"` });
  }
  const { updated, hot } = await eventually(async () => {
    const counted = await row(
      warehouse,
      `select n_tup_upd::int as updated, n_tup_hot_upd::int as hot from pg_stat_user_tables
       where relid = 'finance.bills'::regclass`,
    );
    return Number(counted.updated) >= 0.3 * ids.length ? counted : undefined;
  });
  expect(Number(hot) / Number(updated)).toBeGreaterThan(0.9);
});

test('frequently updated tables have a fillfactor of 85', async () => {
  const full = await rows(
    warehouse,
    `select oid::regclass::text as "table" from pg_class
     where oid in ('finance.bills'::regclass, 'finance.subscriptions'::regclass, 'sync.streams'::regclass, 'sync.all_connections'::regclass,
         'sync.passes'::regclass, 'sync.run_streams'::regclass, 'sync.resource_clocks'::regclass)
       and 'fillfactor=85' <> all (coalesce(reloptions, '{}'))`,
  );
  expect(full).toEqual([]);
});
