import { expect, test } from 'vitest';
import { createInstallation, type Installation } from '../support/installation.ts';
import { row } from '../support/rows.ts';
import { sync } from '../support/sync.ts';
import {
  appliedInbox,
  changeBill,
  readIds,
  readInbox,
  readMemo,
  readRecord,
  syncedCompany,
  readListeningUrl,
} from './company.ts';
import { entityWebhook, send } from './webhook.ts';
import { eventually } from '../support/eventually.ts';

const installation: Installation = await createInstallation();
const { admin, warehouse } = installation;
const url = readListeningUrl(await installation.startWorker());

test('a deletion announced by a webhook is applied if the service no longer has the record', async () => {
  const { connection, id, deleted } = await companyWithBill();
  await admin.execute({ kind: 'delete', connection, resource: 'bills', id, event: false });
  await send(url, deleted);
  expect(await appliedInbox(installation, connection)).toMatchObject([
    { outcome: 'gone at the source too: deleted' },
  ]);
  expect(
    await row(
      warehouse,
      `select source, payload ->> 'id' as id from finance.deleted_records where connection_id = $1`,
      [connection],
    ),
  ).toEqual({ source: 'webhook', id });
  expect((await installation.compare(connection)).differences).toEqual([]);
});

test('a deletion that the service does not confirm deletes nothing', async () => {
  const { connection, id, deleted } = await companyWithBill();
  await send(url, deleted);
  expect(await appliedInbox(installation, connection)).toMatchObject([
    { outcome: 'not deleted: the service still has the record' },
  ]);
  expect((await installation.compare(connection)).differences).toEqual([]);
  expect(await readRecord(installation, connection, { id })).toBeDefined();
});

test('a deletion is left to a reconcile if every fetch returns 404, which proves nothing', async () => {
  const { connection, id, deleted } = await companyWithBill();
  const match = { connection, path: '/accounting/bills/' };
  await admin.addFault({ match, fault: { kind: 'status', status: 404 } });
  await send(url, deleted);
  expect(await appliedInbox(installation, connection)).toMatchObject([
    {
      status: 'ignored',
      outcome: 'the service fetches no record of this resource, so whether it is gone is left to a reconcile',
    },
  ]);
  await admin.clearFaults();
  expect(await readRecord(installation, connection, { id })).toBeDefined();
  expect((await installation.compare(connection)).differences).toEqual([]);
  const wanted = `select stream from sync.streams where connection_id = $1 and reconcile_wanted_at is not null`;
  expect(await row(warehouse, wanted, [connection])).toEqual({ stream: 'bills' });
});

test('a 404 proves a deletion if another record can be fetched', async () => {
  const { connection, id, deleted } = await companyWithBill();
  await admin.configure({ missingRecordStatus: 404 });
  await admin.execute({ kind: 'delete', connection, resource: 'bills', id, event: false });
  await send(url, deleted);
  expect(await appliedInbox(installation, connection)).toMatchObject([
    { outcome: 'gone at the source too: deleted' },
  ]);
  await admin.configure({});
});

test('a missing record is not deleted because of a webhook that does not announce a deletion', async () => {
  const { connection, id } = await companyWithBill();
  const updated = await changeBill(installation, connection, { id, memo: 'last words' });
  await admin.execute({ kind: 'delete', connection, resource: 'bills', id, event: false });
  await send(url, updated);
  expect(await appliedInbox(installation, connection)).toMatchObject([{ status: 'ignored' }]);
  const held = 'select count(*)::int as bills from finance.bills where connection_id = $1 and id = $2';
  expect(await row(warehouse, held, [connection, id])).toEqual({ bills: 1 });
});

test('a deleted record is not brought back by a late update webhook or by a sync', async () => {
  const { connection, id } = await companyWithBill();
  const updated = await changeBill(installation, connection, { id, memo: 'before the end' });
  const record = (await readRecord(installation, connection, { id })) ?? '';
  await admin.execute({ kind: 'delete', connection, resource: 'bills', id, event: false });
  await send(url, entityWebhook(connection, { entity: 'BILL', what: 'DELETED', record }));
  await appliedInbox(installation, connection);
  await send(url, updated);
  await appliedInbox(installation, connection);
  await sync(installation, connection);
  expect((await installation.compare(connection)).differences).toEqual([]);
  expect(await readRecord(installation, connection, { id })).toBeUndefined();
});

test('a recreated record stays, even if the webhook of its deletion comes last', async () => {
  const { connection, id, deleted } = await companyWithBill();
  await admin.execute({ kind: 'delete', connection, resource: 'bills', id, event: false });
  await send(url, deleted);
  await appliedInbox(installation, connection);
  // A record that is recreated in the second of its deletion comes only with the next reconcile.
  const second = Math.floor((await admin.now()) / 1_000);
  await eventually(async () => ((await admin.now()) / 1_000 >= second + 1 ? 'over' : undefined));
  await admin.execute({ kind: 'recreate', connection, resource: 'bills', id });
  const record = (await readRecord(installation, connection, { id })) ?? '';
  await send(url, entityWebhook(connection, { entity: 'BILL', what: 'CREATED', record }));
  await appliedInbox(installation, connection);
  await send(
    url,
    entityWebhook(connection, {
      entity: 'BILL',
      what: 'DELETED',
      record: `${record.slice(0, -1)},"late":1}`,
    }),
  );
  await eventually(async () => ((await readInbox(installation, connection)).length === 3 ? true : undefined));
  expect((await appliedInbox(installation, connection)).at(-1)).toMatchObject({
    outcome: 'not deleted: the service still has the record',
  });
  expect((await installation.compare(connection)).differences).toEqual([]);
  const gone = 'select count(*)::int as records from finance.deleted_records where connection_id = $1';
  expect(await row(warehouse, gone, [connection])).toEqual({ records: 0 });
});

test('a deletion of an unseen record is kept, in case a list shows the record late', async () => {
  const { connection } = await companyWithBill();
  const [id = ''] = await readIds(installation, connection, { resource: 'items' });
  const record = (await readRecord(installation, connection, { id, resource: 'items' })) ?? '';
  const never = record.replace(id, 'never-seen');
  await send(url, entityWebhook(connection, { entity: 'ITEM', what: 'DELETED', record: never }));
  await appliedInbox(installation, connection);
  expect(
    await row(
      warehouse,
      `select resource, source from sync.tombstones where connection_id = $1 and record_id = 'never-seen'`,
      [connection],
    ),
  ).toEqual({ resource: 'items', source: 'webhook' });
  expect(await readMemo(installation, connection, 'never-seen')).toBeNull();
});

async function companyWithBill(): Promise<{ connection: string; id: string; deleted: string }> {
  const connection = await syncedCompany(installation);
  const [id = ''] = await readIds(installation, connection);
  const record = (await readRecord(installation, connection, { id })) ?? '';
  return { connection, id, deleted: entityWebhook(connection, { entity: 'BILL', what: 'DELETED', record }) };
}
