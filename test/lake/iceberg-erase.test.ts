import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { openLake } from '../../lake/open-lake.ts';
import { readManifest } from '../../lake/pointer.ts';
import { eraseFromLake } from '../../operations/erase-from-lake.ts';
import { bills } from '../../resources/bills.ts';
import { settingsOf } from '../console/open-console.ts';
import { buildEnvironment } from '../dbt/build-environment.ts';
import { cacheFolder } from '../support/cache-folder.ts';
import { bill, text } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { some } from '../support/proof-test.ts';
import { row, rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake } from './export-of.ts';
import { manifestSeen, readIceberg } from './read-iceberg.ts';

const { warehouse, url } = await createTestDatabase();
const iceberg = { add: true, cacheFolder };
const { exportNow, location, scratch } = await createTestLake(url, { iceberg });
const { env } = await buildEnvironment({ databaseUrl: url, lake: location });
const connectionId = await addTestConnection(warehouse);
let lakes = 0;
let landed = 0;

interface Metadata {
  refs: Record<string, { 'snapshot-id': number; type: 'tag' | 'branch' }>;
  snapshots: {
    'snapshot-id': number;
    'timestamp-ms': number;
    'manifest-list': string;
    summary: Record<string, string>;
  }[];
}

/** Of a lake with two snapshots: one that stays, and one that holds the record. */
interface Lakes {
  readonly place: string;
  readonly stays: string;
  readonly holds: string;
}

test.each(
  some([
    {
      what: 'its time is ahead of the clock',
      change: (metadata: Metadata, { holds }: Lakes): void => {
        snapshotOf(metadata, holds)['timestamp-ms'] += 3 * 86_400_000;
      },
    },
    {
      what: 'a branch names it',
      change: ({ refs }: Metadata, { holds }: Lakes): void => {
        refs.kept = { 'snapshot-id': refs[holds]!['snapshot-id'], type: 'branch' };
      },
    },
    {
      what: 'the tag of another one names its files',
      change: (metadata: Metadata, { stays, holds }: Lakes): void => {
        const { 'manifest-list': list } = snapshotOf(metadata, holds);
        snapshotOf(metadata, stays)['manifest-list'] = list;
      },
    },
    {
      what: 'it says that it is of the content of another one',
      change: (metadata: Metadata, { stays, holds }: Lakes): void => {
        const other = snapshotOf(metadata, stays);
        snapshotOf(metadata, holds).summary['daybook.content'] = other.summary['daybook.content']!;
        metadata.snapshots = metadata.snapshots.filter((one) => one !== other);
        metadata.refs = Object.fromEntries(Object.entries(metadata.refs).filter(([name]) => name !== stays));
      },
    },
  ]),
)('no file of an Iceberg table holds an erased record, although $what', async ({ change }) => {
  const lakes = await exportTwice();
  const { place } = lakes;
  const file = await metadataFile();
  const metadata = JSON.parse(await readFile(file, 'utf8')) as Metadata;
  change(metadata, lakes);
  await writeFile(file, JSON.stringify(metadata));
  expect(await erase(place)).toEqual([]);
  await expectShown(place);
});

async function exportTwice(): Promise<Lakes> {
  const place = await freshLake();
  const ids: string[] = [];
  for (const id of ['stays', 'erased']) {
    landed += 1;
    const memo = text(`memo ${landed} of ${id}`);
    const at = `"2030-01-01T00:00:${String(landed).padStart(2, '0')}Z"`;
    const page = [bill(id, { memo, last_synced_at: at })];
    await land(warehouse, { connectionId, stream: 'bills', pages: [page] });
    const { snapshotId, icebergProblem } = await exportNow({ lake: place, force: true });
    expect(icebergProblem).toBeUndefined();
    ids.push(snapshotId);
  }
  const [stays = '', holds = ''] = ids;
  return { place, stays, holds };
}

/** Nothing is known of any other. */
async function freshLake(): Promise<string> {
  for (const table of ['finance.bills', 'sync.snapshots', 'iceberg.iceberg_tables'])
    await rows(warehouse, `delete from ${table}`);
  lakes += 1;
  return join(location, `../lake-${lakes}`);
}

/** Says what is kept. */
async function erase(place: string): Promise<string[]> {
  const settings = settingsOf({ ...env, DAYBOOK_LAKE: place });
  const kept: string[] = [];
  const record = { connectionId, resource: bills, id: 'erased' };
  await eraseFromLake(
    { settings: { ...settings, marts: { ...settings.marts, cacheFolder } }, warehouse },
    record,
    {
      follow: () => Promise.resolve(),
      onKept: ({ message }) => kept.push(message),
    },
  );
  return kept;
}

/** The tables have the files of the snapshots that are there, and no other. */
async function expectShown(place: string): Promise<void> {
  const lake = await openLake({ location: place, scratch });
  const ids = await lake.snapshotIds();
  const manifests = await Promise.all(ids.map(async (id) => (await readManifest(lake, id))!));
  const listed = manifests.flatMap(({ tables }) => tables.bills!.files.filter(({ rows }) => rows > 0));
  const data = await readdir(join(place, 'iceberg/finance/bills/data'));
  const names = new Set(listed.map(({ sha256 }) => `${sha256}.parquet`));
  expect(data.sort()).toEqual([...names].sort());
  const seen = await readIceberg(url, { reader: 'pyiceberg', tables: ['bills'] });
  expect(seen).toMatchObject(
    Object.fromEntries(manifests.map((one) => [one.snapshot_id, manifestSeen(one, ['bills'])])),
  );
}

function snapshotOf({ refs, snapshots }: Metadata, tag: string): Metadata['snapshots'][number] {
  return snapshots.find((one) => one['snapshot-id'] === refs[tag]!['snapshot-id'])!;
}

/** Of the bills. */
async function metadataFile(): Promise<string> {
  const { metadata_location: at } = await row(
    warehouse,
    `select metadata_location from iceberg.iceberg_tables where table_namespace = 'finance' and table_name = 'bills'`,
  );
  return fileURLToPath(String(at));
}
