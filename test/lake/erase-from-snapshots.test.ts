import { EventEmitter, once } from 'node:events';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDuckDb } from '../../lake/parquet/duck-db.ts';
import { eraseFromSnapshots, type Erasing } from '../../lake/snapshots/erase-from-snapshots.ts';
import { filesBeside } from '../../lake/snapshots/find-damage.ts';
import type { Lake } from '../../lake/lake.ts';
import { openLake } from '../../lake/open-lake.ts';
import { readManifest, readPointer } from '../../lake/manifest/pointer.ts';
import { buildRowsToErase } from '../../operations/erase-from-lake.ts';
import { resources } from '../../resources/index.ts';
import { items } from '../../resources/items.ts';
import { snapshotTables } from '../../warehouse/snapshots/snapshot-tables.ts';
import { bill, item } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake, testWarehouseId as warehouseId } from './create-test-lake.ts';
import { readParquet } from './read-parquet.ts';
import { pass, startS3Proxy } from './s3-proxy.ts';
import { startS3Server } from './s3-server.ts';

const { warehouse, url } = await createTestDatabase();
const s3 = await startS3Server();
const { exportNow, location, scratch } = await createTestLake(url);
const lake = await openLake({ location, scratch: `${scratch}-of-erasure` });
const connectionId = await addTestConnection(warehouse);

test('an erasure reports unlisted files in a snapshot that stays, and still erases what the manifests list', async () => {
  const [held, stays] = await exportHeldThenNot();
  const [file] = (await readManifest(lake, held))!.tables.bills!.files;
  const from = join(location, 'snapshots', held, file!.path);
  // In a snapshot that is published again, such files go with its folder.
  const beside = [held, stays].map((id) => join(location, 'snapshots', id, 'bills/part-00099.parquet'));
  for (const path of beside) await cp(from, path);
  const told: Error[] = [];
  const onUnread = (problem: Error): void => {
    told.push(problem);
  };
  expect(await erase(lake, { onUnread })).toEqual([held]);
  expect(told.map(({ message }) => message)).toEqual([
    `snapshots/${stays} of the lake ${location} has Parquet files that its manifest does not list (1, such as bills/part-00099.parquet). ` +
      'They were not searched and may hold the record. Remove them ("daybook snapshots verify" names all), and run the command again.',
  ]);
  await rm(beside[1]!);
  expect(await erase(lake)).toEqual([]);
});

test('an erasure reports folders that it may not open in a snapshot that stays; in a bucket, such a name is no folder', async () => {
  const [held, stays] = await exportHeldThenNot();
  const withFolder: Lake = {
    ...lake,
    filesIn: async (folder, isMeant = () => true) => [
      ...(await lake.filesIn(folder, isMeant)),
      ...(folder.endsWith(stays) ? ['bills/old/'] : []).filter(isMeant),
    ],
  };
  const told: string[] = [];
  const onUnread = ({ message }: Error): void => {
    told.push(message);
  };
  expect(await erase(withFolder, { onUnread })).toEqual([held]);
  expect(told).toEqual([
    expect.stringMatching(
      / has folders that Daybook may not open, .*\(1, such as bills\/old\/\)\. They were not searched/,
    ),
  ]);
  const manifest = (await readManifest(lake, stays))!;
  expect(await filesBeside(withFolder, manifest)).toEqual(['bills/old/']);
  expect(await filesBeside({ ...withFolder, location: s3.location }, manifest)).toEqual([]);
});

test('no table names an erased record any more, but that it was deleted; one of the same ID of another resource stays', async () => {
  const record = { connectionId, resource: items, id: 'of-two-resources' };
  const unreadable = `{"unit_price":"1,234.50"}`;
  const runId = 'run-of-items';
  await land(warehouse, {
    connectionId,
    runId,
    stream: 'items',
    pages: [[item(record.id, { bill_item: unreadable })]],
  });
  await land(warehouse, {
    connectionId,
    stream: 'bills',
    pages: [[bill(record.id, { currency_rate: '"1,0843"' })]],
  });
  // As a reconcile leaves it that asks for approval.
  await rows(
    warehouse,
    `update sync.run_streams set failure_type = 'ApprovalNeeded' where run_id = $1 and stream = 'items'`,
    [runId],
  );
  await rows(
    warehouse,
    `insert into sync.discrepancies (connection_id, resource, record_id, kind, status, run_id, version)
     values ($1, 'items', $2, 'extra', 'confirmed', $3, '2024-02-01')`,
    [connectionId, record.id, runId],
  );
  const { snapshotId } = await exportNow({ force: true });
  const before = await tablesNaming(snapshotId, record.id);
  expect(before).toMatchObject({
    items: ['items'],
    field_issues: ['bills', 'items'],
    waiting_deletions: ['items'],
  });
  const duckDb = await openDuckDb({ spillFolder: `${scratch}-spill` });
  const rewritten = await eraseFromSnapshots(lake, duckDb, buildRowsToErase(record, { warehouseId }));
  duckDb.close();
  const to = rewritten.find(({ from }) => from === snapshotId)?.manifest.snapshot_id ?? '';
  expect(await tablesNaming(to, record.id)).toEqual({
    bills: before.bills,
    bill_lines: before.bill_lines,
    field_issues: ['bills'],
  });
});

test('every table with rows of single records is one that an erasure looks into', () => {
  const erased = new Set(
    resources.flatMap((resource) =>
      Object.keys(buildRowsToErase({ connectionId, resource, id: 'any' }, { warehouseId }).columns),
    ),
  );
  // That a record was deleted stays known, so that no late page brings it back.
  const stays = ['deleted_records'];
  const namesRecords = snapshotTables.filter(({ key }) =>
    key.some(
      (column) => column === 'id' || (column.endsWith('_id') && !/^(connection|run)_id$/.test(column)),
    ),
  );
  expect(namesRecords.map(({ name }) => name).sort()).toEqual([...erased, ...stays].sort());
});

test('an erasure restores a missing pointer to the newest snapshot, not to an older one that held the record', async () => {
  const [held, newest] = await exportHeldThenNot();
  await rm(join(location, 'latest.json'));
  expect(await erase(lake)).toEqual([held]);
  expect((await readPointer(lake))?.snapshot_id).toBe(newest);
});

test('an erasure asks a bucket for the next copy while the first one is in progress', async () => {
  await landRecord();
  const { snapshotId } = await exportNow({ lake: s3.location, force: true });
  const server = s3.env.AWS_ENDPOINT_URL!;
  const asked = new Set<string>();
  const second = new EventEmitter();
  let isAsked: Promise<boolean> | undefined;
  const proxy = await startS3Proxy(server, (incoming, outgoing) => {
    const { method, headers, url: path = '' } = incoming;
    const passOn = (): void => {
      const onward = pass(new URL(path, server), { method, headers }, outgoing);
      incoming.pipe(onward.on('error', () => outgoing.destroy()));
    };
    if (headers['x-amz-copy-source'] === undefined) {
      passOn();
      return;
    }
    asked.add(path);
    isAsked ??= once(second, 'asked', { signal: AbortSignal.timeout(30_000) }).then(
      () => true,
      () => false,
    );
    if (asked.size === 2) second.emit('asked');
    void isAsked.then(passOn);
  });
  const erased = await proxy.use(async () => {
    const bucket = await openLake({ location: s3.location, scratch: `${scratch}-of-bucket` });
    return erase(bucket);
  });
  expect(erased).toEqual([snapshotId]);
  expect(await isAsked).toBe(true);
});

/** In which tables of a snapshot a record of the connection is, and of which resources its rows are where they say so. */
async function tablesNaming(snapshotId: string, id: string): Promise<Record<string, (string | null)[]>> {
  const folder = join(location, 'snapshots', snapshotId);
  const found: Record<string, (string | null)[]> = {};
  for (const { name, columns } of snapshotTables) {
    const resource = columns.some((column) => column.name === 'resource') ? 'resource' : `'${name}'`;
    const held = await readParquet(
      folder,
      `select distinct ${resource} as resource from read_parquet('{lake}/${name}/*.parquet') as r
       where r::varchar like '%${id}%' order by 1`,
    );
    if (held.length > 0) found[name] = held.map((one) => one.resource ?? null);
  }
  return found;
}

/** Returns the ids of a snapshot that holds the record, and of a later one that does not. */
async function exportHeldThenNot(): Promise<[string, string]> {
  await landRecord();
  const { snapshotId: held } = await exportNow({ force: true });
  await rows(warehouse, `delete from finance.bill_lines where bill_id = 'to-erase'`);
  await rows(warehouse, `delete from finance.bills where id = 'to-erase'`);
  return [held, (await exportNow({ force: true })).snapshotId];
}

async function landRecord(): Promise<void> {
  await rows(warehouse, `delete from finance.bills where id = 'to-erase'`);
  const pages = [[bill('stays'), bill('to-erase', { memo: `"planted ${Date.now()}"` })]];
  await land(warehouse, { connectionId, stream: 'bills', pages });
}

/** Erases the record, and returns the ids of the snapshots that held it. */
async function erase(from: Lake, erasing: Pick<Erasing, 'onUnread'> = {}): Promise<string[]> {
  const duckDb = await openDuckDb({ spillFolder: `${scratch}-spill` });
  const columns = { bills: 'id', bill_lines: 'bill_id' };
  const record = { warehouseId, connectionId, id: 'to-erase', columns };
  try {
    const rewritten = await eraseFromSnapshots(from, duckDb, record, erasing);
    for (const one of rewritten) await from.removeSnapshot(one.from);
    return rewritten.map((one) => one.from);
  } finally {
    duckDb.close();
  }
}
