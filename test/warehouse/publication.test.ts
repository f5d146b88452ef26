import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { freePort } from '../../embedded/free-port.ts';
import { startPostgres } from '../../embedded/postgres.ts';
import { migrate } from '../../warehouse/schema/migrate.ts';
import { openWarehouse } from '../../warehouse/open-warehouse.ts';
import { createInstallation } from '../support/installation.ts';
import { sync } from '../support/sync.ts';

/** A Postgres configured for change capture, unlike the test run's own. */
const folder = await mkdtemp(join(tmpdir(), 'daybook-test-publication-'));
const postgres = await startPostgres({
  dataDir: join(folder, 'postgres'),
  port: await freePort(),
  settings: { wal_level: 'logical', fsync: 'off', max_connections: '50' },
});
const warehouse = openWarehouse({ url: postgres.url, connections: 5 });
await migrate(warehouse);
const admin = new pg.Client({ connectionString: postgres.adminUrl.replace(/postgres$/, 'daybook') });
await admin.connect();
afterAll(async () => {
  await admin.end();
  await warehouse.close();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
});

const installation = await createInstallation({ database: { url: postgres.url, warehouse } });

test('a replication slot for all tables receives the changes of a sync, a reconcile, and a removal', async () => {
  await admin.query('create publication everything for all tables');
  await admin.query(`select pg_create_logical_replication_slot('capture', 'test_decoding')`);
  await installation.startWorker();
  const connection = await installation.connect({ records: 60 });
  const { run } = await sync(installation, connection);
  expect(run.status).toBe('succeeded');
  for (const command of [['reconcile', connection], ['prune'], ['connection', 'remove', connection]]) {
    const { code, stderr } = await installation.run(command);
    expect([code, stderr], command.join(' ')).toEqual([0, expect.anything()]);
  }
  const changes = await admin.query<{ table: string; kinds: string[] }>(`
    select told[1] as "table", array_agg(distinct told[2] order by told[2]) as kinds
    from pg_logical_slot_get_changes('capture', null, null),
      regexp_match(data, '^table ([a-z_]+\\.[a-z_]+): ([A-Z]+):') as told
    where told is not null group by 1`);
  const kinds = Object.fromEntries(changes.rows.map((row) => [row.table, row.kinds]));
  expect(kinds['finance.bills']).toEqual(['DELETE', 'INSERT']);
  expect(kinds['sync.api_grants']).toContain('INSERT');
  expect(kinds['sync.all_connections']).toEqual(['DELETE', 'INSERT', 'UPDATE']);
});
