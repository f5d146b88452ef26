import { afterEach, expect, test } from 'vitest';
import { createInstallation } from '../support/installation.ts';
import { proofTest, some } from '../support/proof-test.ts';
import { row } from '../support/rows.ts';
import { startSync, statusesOf, sync } from '../support/sync.ts';
import { eventually } from '../support/eventually.ts';
import { reconcile } from '../support/reconcile.ts';

const installation = await createInstallation({ env: { DAYBOOK_GIVE_UP_AFTER: '3s' } });
const { admin, warehouse } = installation;
await installation.startWorker();

afterEach(async () => {
  await admin.clearFaults();
  await admin.configure({});
});

const notReady = { kind: 'status', status: 400, code: 'PRODUCT_NOT_READY' } as const;

// All lists have answered before. Then only one of them says that it is not ready, or asks for a pause.
const failing: readonly {
  path: string;
  stream: string;
  fault: Parameters<typeof admin.addFault>[0]['fault'];
}[] = [
  { path: '/subscriptions', stream: 'subscriptions', fault: notReady },
  {
    path: '/subscriptions',
    stream: 'subscriptions',
    fault: { kind: 'status', status: 452, code: 'PLATFORM_RATE_LIMIT', retryAfter: '1' },
  },
  {
    path: '/accounting/items',
    stream: 'items',
    fault: { kind: 'status', status: 429, code: 'RATE_LIMIT_EXCEEDED', retryAfter: '1' },
  },
  { path: '/events', stream: 'events', fault: notReady },
];
test.each(some(failing))(
  'the list $path is given up if it alone keeps answering $fault.status, and the other lists are read',
  async ({ path, stream, fault }) => {
    const connection = await installation.connect({ platform: 'QUICKBOOKS' });
    expect((await sync(installation, connection)).run.status).toBe('succeeded');
    await admin.addFault({ match: { connection, path }, fault });
    await admin.activity({ connection, changes: 10, deletes: 0 });
    const { run } = await sync(installation, connection);
    const others = Object.entries(statusesOf(run)).filter(([name]) => name !== stream);
    expect(statusesOf(run)[stream]).toBe('failed');
    expect(others.filter(([, status]) => status === 'failed')).toEqual([]);
    await admin.clearFaults();
    expect((await sync(installation, connection)).run.status).toBe('succeeded');
    expect((await installation.compare(connection)).differences).toEqual([]);
  },
);

proofTest('deletions are applied while one list is not ready', async () => {
  const connection = await installation.connect({ platform: 'QUICKBOOKS' });
  await sync(installation, connection);
  const first = 'select id from finance.bills where connection_id = $1 order by id limit 1';
  const { id } = await row(warehouse, first, [connection]);
  await admin.addFault({ match: { connection, path: '/subscriptions' }, fault: notReady });
  await admin.execute({ kind: 'delete', connection, resource: 'bills', id: String(id) });
  await sync(installation, connection);
  expect((await row(warehouse, first, [connection])).id).not.toBe(id);
});

proofTest('a first sync reads a long list to its end while another list is not ready', async () => {
  const connection = await installation.connect({ records: 300 });
  await admin.configure({ maximumLimit: 1 });
  await admin.addFault({ match: { connection, path: '/subscriptions' }, fault: notReady });
  const { run } = await sync(installation, connection);
  expect(statusesOf(run)).toMatchObject({ bills: 'succeeded', items: 'succeeded', subscriptions: 'failed' });
});

proofTest('a reconcile ends even if one list is never ready', async () => {
  const connection = await installation.connect();
  await sync(installation, connection);
  await admin.addFault({ match: { connection, path: '/subscriptions' }, fault: notReady });
  const { run } = await reconcile(installation, connection);
  expect(statusesOf(run)).toMatchObject({ bills: 'succeeded', subscriptions: 'failed' });
});

proofTest('a sync waits for a company that is not ready longer than DAYBOOK_GIVE_UP_AFTER', async () => {
  const connection = await installation.connect({ ready: false });
  const handle = await startSync(installation, connection);
  await eventually(async () => {
    const asked = (await admin.requests()).filter((one) => one.connection === connection);
    const [first, last] = [asked[0]?.at ?? 0, asked.at(-1)?.at ?? 0];
    return last - first > 8_000 ? true : undefined;
  });
  await admin.execute({ kind: 'make-ready', connection });
  await handle.result();
  expect((await installation.compare(connection)).differences).toEqual([]);
});
