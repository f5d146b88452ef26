import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { migrate } from '../../warehouse/schema/migrate.ts';
import { openWarehouse } from '../../warehouse/open-warehouse.ts';
import { page, ScriptedService } from '../replication/scripted-service.ts';
import { bill, customer } from '../support/finance-records.ts';
import { isProof } from '../support/proof-test.ts';
import { startTestPostgres } from '../support/postgres-server.ts';
import { rowsLookedAtSoFar } from '../support/rows-looked-at.ts';

// This server never learns how large the tables are: a worker's statements keep the plans that fitted empty tables, as they do until
// autovacuum runs.
const folder = await mkdtemp(join(tmpdir(), 'daybook-plans-'));
const server = await startTestPostgres(folder, { autovacuum: 'off' });
// One session, which has made its plans before the large company comes, and whose statistics can be asked for.
const warehouse = openWarehouse({ url: server.url, connections: 1 });
await migrate(warehouse);
const small = await new ScriptedService(warehouse).start();
const large = await new ScriptedService(warehouse).start();
afterAll(async () => {
  small.stop();
  large.stop();
  await warehouse.close();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

const count = isProof ? 2_000 : 700;
/** The number of deleted records. A plan that reads the whole table for each of them looks at 67 rows a record, whatever the number of records. */
const goneOfLarge = 67;
const resources = ['bills', 'customers'];

/** Lists of the large company come in pages of 100. */
large.onList = (resource, query) => {
  const floor = Number(query.get('last_synced_at_min') ?? -Infinity);
  const shown = (large.lists[resource] ?? []).filter((text) => parseVersion(text) >= floor);
  const start = Number(query.get('cursor') ?? 0);
  const next = start + 100 < shown.length ? String(start + 100) : null;
  return page(large, resource, shown.slice(start, start + 100), next);
};

test('statements planned for empty tables read no more rows of large tables than they need', async () => {
  for (let round = 0; round < 6; round += 1) await runWorkload(small, { round, records: 2, goneRecords: 1 });
  const before = await rowsLookedAtSoFar(warehouse);
  await runWorkload(large, { round: 0, records: count, goneRecords: goneOfLarge });
  const read = [...(await rowsLookedAtSoFar(warehouse))].map(([what, rows]) => ({
    what,
    perRecord: (rows - (before.get(what) ?? 0)) / count,
  }));
  expect([...small.failures, ...large.failures]).toEqual([]);
  expect(read.find(({ what }) => what === 'finance.bills_pkey')?.perRecord).toBeGreaterThan(1);
  expect(read.filter(({ perRecord }) => perRecord > 40)).toEqual([]);
});

/** Creates records of a company, reads and announces them, deletes some, and reconciles. */
async function runWorkload(
  service: ScriptedService,
  { round, records, goneRecords }: { round: number; records: number; goneRecords: number },
): Promise<void> {
  const version = `"${new Date(Date.now() - 60_000).toISOString()}"`;
  const ids = Array.from({ length: records }, (_, index) => `record-${index}`);
  service.lists = {
    bills: ids.map((id) => bill(id, { last_synced_at: version, memo: `"${round}"` })),
    customers: ids.map((id) => customer(id, { last_synced_at: version, name: `"${round}"` })),
  };
  await service.sync(resources);
  await service.sync(resources);
  await service.reconcile(resources);
  for (const id of ids.slice(0, 100)) {
    const text = bill(id, { last_synced_at: `"${new Date().toISOString()}"`, memo: '"told"' });
    service.lists.bills = (service.lists.bills ?? []).map((one) => (parseId(one) === id ? text : one));
    await service.storeWebhook('UPDATED', text);
  }
  await service.applyWebhooks();
  const gone = ids.slice(-goneRecords);
  service.lists = Object.fromEntries(
    Object.entries(service.lists).map(([name, texts]) => [
      name,
      texts.filter((text) => !gone.includes(parseId(text))),
    ]),
  );
  service.events = gone.map(
    (id) =>
      `{"id":"event-${round}-${id}","type":"BILL","event":"DELETED","record_id":"${id}","last_synced_at":"${new Date().toISOString()}"}`,
  );
  await service.sync(resources);
  await service.reconcile(resources);
}

function parseId(text: string): string {
  return (JSON.parse(text) as { id: string }).id;
}

function parseVersion(text: string): number {
  return Date.parse((JSON.parse(text) as { last_synced_at: string }).last_synced_at);
}
