import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { streamNamed } from '../../resources/index.ts';
import { sourceRecord } from '../../resources/source-record.ts';
import {
  addConnection,
  ConnectionBeingRemoved,
  ConnectionExists,
} from '../../warehouse/connections/add-connection.ts';
import { readKeptData, type KeptData } from '../../warehouse/connections/kept-data.ts';
import type { ServiceIdentity } from '../../warehouse/connections/pin-identity.ts';
import { removeConnection } from '../../warehouse/connections/remove-connection.ts';
import {
  ConnectionReplaced,
  IdentityChanged,
  IdentityInUse,
  UnknownConnection,
} from '../../warehouse/errors.ts';
import { landFetched } from '../../warehouse/landing/land-fetched.ts';
import { discardEntries } from '../../warehouse/quarantine/discard-entries.ts';
import { readQuarantineEntries } from '../../warehouse/quarantine/read-quarantine.ts';
import { blockWrites, waitingSessions } from '../support/blocked-session.ts';
import { bill } from '../support/finance-records.ts';
import { begin, landRecords, openPass } from '../support/land.ts';
import { row, rows, type Row } from '../support/rows.ts';
import { addTestConnection, testApiAddress, testKey } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { addTombstone } from '../support/tombstone.ts';

const { warehouse, url, adminUrl } = await createTestDatabase();

const deletedAt = '2024-02-01T00:00:00Z';
const older = '"2024-01-31T23:59:59Z"';
const newer = '"2024-02-01T00:00:01Z"';

describe('data kept by remove --keep-data', () => {
  test('belongs to its company: a page of another company is refused, and nothing of it lands', async () => {
    const { connectionId } = await keptConnection();
    await add(connectionId);
    const before = await dataOf(connectionId);
    await expect(landBills(connectionId, [bill('of-another')], newIdentity())).rejects.toThrow(
      IdentityChanged,
    );
    expect(await dataOf(connectionId)).toEqual(before);
  });

  test('is continued by a token of the same company', async () => {
    const { connectionId, identity } = await keptConnection();
    await add(connectionId);
    expect(await pinnedOf(connectionId)).toEqual({
      service_connection_id: identity.id,
      org_id: identity.orgId,
      platform: identity.platform,
    });
    const facts = await landBills(connectionId, [bill('kept'), bill('new')], identity);
    expect(facts).toMatchObject({ unchanged: 1, inserted: 1 });
    expect(await keptOf(connectionId)).toBeUndefined();
  });

  test('keeps its tombstones: a late page does not restore a deleted record, but a newer version does', async () => {
    const { connectionId, identity } = await keptConnection();
    await add(connectionId);
    const late = await landBills(connectionId, [bill('gone', { last_synced_at: older })], identity);
    expect(late).toMatchObject({ suppressed: 1, inserted: 0 });
    expect(await deletedIn(connectionId)).toEqual([{ id: 'gone' }]);
    const again = await landBills(connectionId, [bill('gone', { last_synced_at: newer })], identity);
    expect(again).toMatchObject({ suppressed: 0, inserted: 1 });
    expect(await deletedIn(connectionId)).toEqual([]);
  });

  test('keeps its tombstones in finance.deleted_records while there is no connection', async () => {
    const { connectionId } = await keptConnection();
    expect(await deletedIn(connectionId)).toEqual([{ id: 'gone' }]);
  });

  test('keeps its field issues and its discarded quarantine entries', async () => {
    const connectionId = await addTestConnection(warehouse);
    const identity = newIdentity();
    const discarded = bill('discarded', { issue_date: '5' });
    const page = [bill('odd', { currency_rate: '"N/A"' }), discarded, bill('open', { issue_date: '6' })];
    await landBills(connectionId, page, identity);
    const ids = [await entryOf(connectionId, 'discarded')];
    const entries = await readQuarantineEntries(warehouse, ids);
    await discardEntries(warehouse, { entries, why: 'known' });
    await removeConnection(warehouse, { connectionId, keepData: true });
    expect(await explainedBy(connectionId)).toEqual({ issues: ['odd'], entries: ['discarded'] });
    await add(connectionId);
    // A discarded record does not come back with the same text; an open one does.
    expect(await landBills(connectionId, page, identity)).toMatchObject({ quarantined: 1 });
    expect(await entryOf(connectionId, 'open')).toEqual(expect.any(Number));
  });

  test('is refused to another API address, and nothing is added', async () => {
    const { connectionId } = await keptConnection();
    const before = await dataOf(connectionId);
    await expect(add(connectionId, { apiAddress: 'sandbox' })).rejects.toThrow(
      `Records of ${connectionId} are kept that came from the API address ${testApiAddress}`,
    );
    expect(await rows(warehouse, connectionRow, [connectionId])).toEqual([]);
    expect(await dataOf(connectionId)).toEqual(before);
    expect(await keptOf(connectionId)).toBeDefined();
  });

  test('is refused to everyone when its company is unknown', async () => {
    const connectionId = await addTestConnection(warehouse);
    await landBills(connectionId, [bill('kept')], newIdentity());
    // Deletes the connection as --keep-data of an older release did.
    await warehouse.pool.query('delete from sync.connections where connection_id = $1', [connectionId]);
    await expect(add(connectionId)).rejects.toThrow(
      `Records are kept under ${connectionId}, and it is not known of which company`,
    );
    expect(await keptOf(connectionId)).toMatchObject({ org_id: null, removed_at: null });
    await removeConnection(warehouse, { connectionId, keepData: false });
    await add(connectionId);
  });

  test('is refused while its company is copied under another name', async () => {
    const { connectionId, identity } = await keptConnection();
    const other = await addTestConnection(warehouse);
    await landBills(other, [], identity);
    await expect(add(connectionId)).rejects.toThrow(IdentityInUse);
    await expect(add(connectionId)).rejects.toThrow(`${connectionId} opens the same company as ${other}`);
    expect(await keptOf(connectionId)).toBeDefined();
  });

  test('is refused while another organization has its company, with a message', async () => {
    const { connectionId, identity } = await keptConnection();
    const other = await addTestConnection(warehouse);
    await landBills(other, [], { ...identity, orgId: 'another' });
    await expect(add(connectionId)).rejects.toThrow('but two organizations, so one of the answers is wrong');
  });

  test('is deleted by a second remove, which frees the name for any company', async () => {
    const { connectionId } = await keptConnection();
    expect(await removeConnection(warehouse, { connectionId, keepData: false })).toMatchObject({
      removed: 'kept data',
    });
    expect(await dataOf(connectionId)).toEqual({});
    expect(await keptOf(connectionId)).toBeUndefined();
    await expect(removeConnection(warehouse, { connectionId, keepData: false })).rejects.toThrow(
      UnknownConnection,
    );
    await add(connectionId, { apiAddress: 'sandbox' });
    await landBills(connectionId, [bill('of-another')], newIdentity());
  });

  test('is unchanged when it is kept again', async () => {
    const { connectionId, identity } = await keptConnection();
    const before = await dataOf(connectionId);
    const again = await removeConnection(warehouse, { connectionId, keepData: true });
    expect(again).toMatchObject({ removed: 'nothing', kept: { org_id: identity.orgId } });
    await add(connectionId);
    // The company did not answer in between.
    await removeConnection(warehouse, { connectionId, keepData: true });
    expect(await dataOf(connectionId)).toEqual(before);
    await add(connectionId);
    expect(await pinnedOf(connectionId)).toMatchObject({ service_connection_id: identity.id });
  });

  test('does not exist when nothing was copied, and the name is free', async () => {
    const connectionId = await addTestConnection(warehouse);
    await landBills(connectionId, [], newIdentity());
    expect(await removeConnection(warehouse, { connectionId, keepData: true })).toEqual({
      removed: 'connection',
      kept: undefined,
    });
    await add(connectionId, { apiAddress: 'sandbox' });
    expect(await pinnedOf(connectionId)).toMatchObject({ service_connection_id: null });
  });

  test('is listed with its company', async () => {
    const { connectionId, identity } = await keptConnection();
    const { connectionId: used } = await copiedConnection();
    const kept = await readKeptData(warehouse);
    expect(kept.map(({ connection_id }) => connection_id)).not.toContain(used);
    expect(kept.find(({ connection_id }) => connection_id === connectionId)).toEqual({
      connection_id: connectionId,
      api_address: testApiAddress,
      platform: identity.platform,
      org_id: identity.orgId,
      service_connection_id: identity.id,
      removed_at: expect.any(Date) as unknown,
    });
  });
});

describe('a killed or concurrent command', () => {
  test.each(['sync.kept_data', 'sync.connections'])(
    'remove --keep-data changes nothing if killed before it writes to %s, and completes when run again',
    async (table) => {
      const { connectionId, identity } = await copiedConnection();
      const before = await dataOf(connectionId);
      const block = await blockWrites(url, table);
      const removing = removeConnection(warehouse, { connectionId, keepData: true });
      const failed = expect(removing).rejects.toThrow();
      const [pid] = await waitingSessions(adminUrl);
      await warehouse.pool.query('select pg_terminate_backend($1)', [pid]);
      await failed;
      await block.letGo();
      expect(await dataOf(connectionId)).toEqual(before);
      expect(await pinnedOf(connectionId)).toMatchObject({ service_connection_id: identity.id });

      await removeConnection(warehouse, { connectionId, keepData: true });
      expect(await dataOf(connectionId)).toEqual(before);
      await add(connectionId);
      expect(await pinnedOf(connectionId)).toMatchObject({ service_connection_id: identity.id });
    },
  );

  test('a kept name added three times at once is added once, with its company', async () => {
    const { connectionId, identity } = await keptConnection();
    const added = await Promise.allSettled([add(connectionId), add(connectionId), add(connectionId)]);
    const refused = added.filter((one) => one.status === 'rejected');
    expect(refused.map(({ reason }) => reason as unknown)).toEqual([
      expect.any(ConnectionExists),
      expect.any(ConnectionExists),
    ]);
    expect(await pinnedOf(connectionId)).toMatchObject({ service_connection_id: identity.id });
  });

  test('a name added during its removal has the company of its data, or is refused until the removal ends', async () => {
    const { connectionId, identity } = await copiedConnection();
    const block = await blockWrites(url, 'sync.kept_data');
    const removing = removeConnection(warehouse, { connectionId, keepData: true });
    await waitingSessions(adminUrl, 1);
    const adding = add(connectionId);
    await waitingSessions(adminUrl, 2);
    await block.letGo();
    // Another command may come between two batches.
    const refused = await adding.catch((error: unknown) => error);
    await removing;
    if (refused !== undefined) {
      expect(refused).toBeInstanceOf(ConnectionBeingRemoved);
      await add(connectionId);
    }
    expect(await pinnedOf(connectionId)).toMatchObject({ service_connection_id: identity.id });
  });

  test('a fetched record that lands during or after the removal of its connection leaves nothing behind', async () => {
    const { connectionId } = await copiedConnection();
    const runId = randomUUID();
    await begin(warehouse, { connectionId, runId });
    const block = await blockWrites(url, 'finance.bills');
    const landing = landFetchedBill({ connectionId, runId });
    await waitingSessions(adminUrl, 1);
    const removing = removeConnection(warehouse, { connectionId, keepData: false });
    await waitingSessions(adminUrl, 2);
    await block.letGo();
    await Promise.all([landing, removing]);
    expect(await dataOf(connectionId)).toEqual({});
    await expect(landFetchedBill({ connectionId, runId })).rejects.toThrow(UnknownConnection);
    await add(connectionId);
    await expect(landFetchedBill({ connectionId, runId })).rejects.toThrow(ConnectionReplaced);
    expect(await dataOf(connectionId)).toEqual({});
  });
});

/** A company with one held record and one deleted record. */
async function copiedConnection(): Promise<{ connectionId: string; identity: ServiceIdentity }> {
  const connectionId = await addTestConnection(warehouse);
  const identity = newIdentity();
  await landBills(connectionId, [bill('kept')], identity);
  await addTombstone(warehouse, { connectionId, recordId: 'gone', version: deletedAt });
  return { connectionId, identity };
}

async function keptConnection(): Promise<{ connectionId: string; identity: ServiceIdentity }> {
  const copied = await copiedConnection();
  await removeConnection(warehouse, { connectionId: copied.connectionId, keepData: true });
  return copied;
}

async function keptOf(connectionId: string): Promise<KeptData | undefined> {
  const [kept] = await readKeptData(warehouse, connectionId);
  return kept;
}

async function add(connectionId: string, { apiAddress = testApiAddress } = {}): Promise<void> {
  const rest = { token: 'another token', expandPlatformData: false };
  await addConnection(warehouse, testKey, { connectionId, apiAddress, ...rest });
}

function newIdentity(): ServiceIdentity {
  return { id: randomUUID(), orgId: randomUUID(), platform: 'XERO' };
}

async function landBills(
  connectionId: string,
  records: readonly string[],
  identity: ServiceIdentity,
): Promise<unknown> {
  const { pass } = await openPass(warehouse, { connectionId, stream: 'bills' });
  return landRecords(warehouse, { pass, records, identity });
}

function landFetchedBill(run: { connectionId: string; runId: string }): Promise<unknown> {
  const where = { ...run, resource: streamNamed('bills').resource };
  return landFetched(warehouse, {
    ...where,
    record: sourceRecord(bill('fetched')),
    token: null,
    servedAt: null,
  });
}

const connectionRow = 'select from sync.connections where connection_id = $1';

function pinnedOf(connectionId: string): Promise<Row> {
  return row(
    warehouse,
    'select service_connection_id, org_id, platform from sync.connections where connection_id = $1',
    [connectionId],
  );
}

function deletedIn(connectionId: string): Promise<Row[]> {
  return rows(warehouse, 'select id from finance.deleted_records where connection_id = $1', [connectionId]);
}

/** The rows of each table, if it has any. */
async function dataOf(connectionId: string): Promise<Record<string, Row[]>> {
  const tables = [
    ...['finance.bills', 'finance.bill_lines', 'history.record_versions'],
    ...['sync.tombstones', 'sync.field_issues', 'sync.quarantine'],
  ];
  const data: Record<string, Row[]> = {};
  for (const table of tables) {
    const found = await rows(warehouse, `select * from ${table} where connection_id = $1 order by 1, 2, 3`, [
      connectionId,
    ]);
    if (found.length > 0) data[table] = found;
  }
  return data;
}

async function explainedBy(connectionId: string): Promise<{ issues: unknown[]; entries: unknown[] }> {
  const idsIn = async (table: string): Promise<unknown[]> =>
    (await rows(warehouse, `select record_id from ${table} where connection_id = $1`, [connectionId])).map(
      (found) => found.record_id,
    );
  return { issues: await idsIn('sync.field_issues'), entries: await idsIn('sync.quarantine') };
}

async function entryOf(connectionId: string, recordId: string): Promise<number> {
  const entry = await row(
    warehouse,
    `select id from sync.quarantine where connection_id = $1 and record_id = $2 and status = 'open'`,
    [connectionId, recordId],
  );
  return Number(entry.id);
}
