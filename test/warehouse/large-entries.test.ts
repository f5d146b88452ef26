import { readFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWarehouse, type Warehouse } from '../../warehouse/open-warehouse.ts';
import { discardEntries } from '../../warehouse/quarantine/discard-entries.ts';
import { listQuarantine, newestOpenEntries } from '../../warehouse/quarantine/read-quarantine.ts';
import { closeUnlisted } from '../../warehouse/reconcile/close-unlisted.ts';
import { inTransaction } from '../../warehouse/transactions/in-transaction.ts';
import { resourceNamed } from '../../resources/index.ts';
import { bill } from '../support/finance-records.ts';
import { buildDeletionEvent, landEvents } from '../support/land-events.ts';
import { land } from '../support/land.ts';
import { row, rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse: direct, url } = await createTestDatabase();

/** Has a single connection, so that one process of Postgres does the work, and one socket brings its answers. */
let warehouse: Warehouse;
let received = 0;
const relay = createServer((client) => {
  const { hostname, port } = new URL(url);
  const server = connect(Number(port), hostname);
  server.on('data', ({ length }) => (received += length));
  client.pipe(server).pipe(client);
  for (const socket of [client, server]) socket.on('error', () => socket.destroy());
});

beforeAll(async () => {
  await new Promise<void>((listening) => relay.listen(0, '127.0.0.1', listening));
  const address = new URL(url);
  address.hostname = '127.0.0.1';
  address.port = String((relay.address() as AddressInfo).port);
  warehouse = openWarehouse({ url: address.href, connections: 1 });
});

afterAll(async () => {
  await warehouse.close();
  relay.close();
});

const large = 3_000_000;

/** Lands records that are refused, with `large` characters each, one per page. */
async function keepLarge(connectionId: string, ids: readonly (string | undefined)[]): Promise<void> {
  const pages = ids.map((id) => [
    bill('x', {
      id: id === undefined ? undefined : `"${id}"`,
      memo: '7',
      filler: `"${id ?? ''}${'a'.repeat(large)}"`,
    }),
  ]);
  await land(direct, { connectionId, stream: 'bills', pages });
}

async function bytesToWork(work: () => Promise<unknown>): Promise<number> {
  const before = received;
  await work();
  return received - before;
}

test('the text of quarantined records is not reread when entries are listed, discarded, or settled', async () => {
  const connectionId = await addTestConnection(direct);
  await keepLarge(connectionId, ['good', 'buried', 'unwanted', undefined]);
  const of = { connectionId, resource: resourceNamed('bills') };
  const bytes = await bytesToWork(async () => {
    expect(await newestOpenEntries(warehouse, { connectionId, limit: 51 })).toHaveLength(4);
    const entries = await listQuarantine(warehouse, { all: false, connectionId });
    const unwanted = entries.filter(({ record_id }) => record_id === 'unwanted');
    expect(await discardEntries(warehouse, { entries: unwanted, why: 'test' })).toHaveLength(1);
    await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('good')]] });
    await landEvents(warehouse, {
      connectionId,
      events: [buildDeletionEvent('buried', '2099-01-01T00:00:00Z')],
    });
    const began = new Date(Date.now() + 86_400_000).toISOString();
    await inTransaction(warehouse.pool, ({ client }) =>
      closeUnlisted(client, { ...of, runId: 'none', began, lookbackMilliseconds: 600_000 }),
    );
  });
  expect(bytes).toBeLessThan(large / 10);
  expect(await rows(direct, `select record_id, status from sync.quarantine order by id`)).toEqual([
    { record_id: 'good', status: 'landed' },
    { record_id: 'buried', status: 'discarded' },
    { record_id: 'unwanted', status: 'discarded' },
    { record_id: null, status: 'discarded' },
  ]);
});

test('a record whose numbers Postgres would expand to gigabytes is listed and discarded in little memory', async () => {
  const connectionId = await addTestConnection(direct);
  const { pid } = await row(warehouse, 'select pg_backend_pid() as pid');
  // 50 kB, and half a gigabyte when written out.
  const bad = bill('r', { filler: `[${Array<string>(6_000).fill('1e89999').join(',')}]` });
  for (const again of [false, true]) {
    await land(warehouse, { connectionId, stream: 'bills', pages: [[bad]] });
    const entries = await newestOpenEntries(warehouse, { connectionId, limit: 51 });
    expect(entries).toHaveLength(again ? 0 : 1);
    await discardEntries(warehouse, { entries, why: 'test' });
  }
  const { VmHWM = '' } = Object.fromEntries(
    (await readFile(`/proc/${String(pid)}/status`, 'utf8')).split('\n').map((line) => line.split(/:\s+/)),
  ) as Record<string, string>;
  expect(Number.parseInt(VmHWM, 10) / 1024).toBeLessThan(250);
});
