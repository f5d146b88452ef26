import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { Lake } from '../../lake/lake.ts';
import type { Manifest } from '../../lake/manifest/manifest.ts';
import { openLake } from '../../lake/open-lake.ts';
import { readManifest } from '../../lake/manifest/pointer.ts';
import { eraseFromLake } from '../../operations/erase-from-lake.ts';
import { bills } from '../../resources/bills.ts';
import { settingsOf } from '../console/open-console.ts';
import { buildEnvironment } from '../dbt/build-environment.ts';
import { cacheFolder } from '../support/cache-folder.ts';
import { bill, text } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { proofTest, some } from '../support/proof-test.ts';
import { row, rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake } from './create-test-lake.ts';
import { manifestSeen, readIceberg } from './read-iceberg.ts';
import { pass, startS3Proxy } from './s3-proxy.ts';
import { startS3Server } from './s3-server.ts';
import { showMart } from './show-mart.ts';

const { warehouse, url } = await createTestDatabase();
const s3 = await startS3Server();
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

/** A lake with two snapshots: one that stays, and one that holds the record. */
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
)(
  'a snapshot with the erased record leaves no data file in the Iceberg table, although $what',
  async ({ change }) => {
    const lakes = await exportTwice();
    const { place } = lakes;
    const file = await metadataFile();
    const metadata = JSON.parse(await readFile(file, 'utf8')) as Metadata;
    change(metadata, lakes);
    await writeFile(file, JSON.stringify(metadata));
    expect(await erase(place)).toEqual([]);
    await expectShown(place);
  },
);

test.each(
  some([
    { how: 'says that it does', status: 204, body: '' },
    { how: 'refuses', status: 403, body: '<Error><Code>AccessDenied</Code><Message>no</Message></Error>' },
  ]),
)(
  'an erasure reports Iceberg files that the bucket does not delete (it $how), and the next one deletes them',
  async ({ status, body }) => {
    const place = await freshLake(`s3://${s3.bucket}`);
    await exportEach(place, ['erased']);
    const lake = await openLake({ location: place, scratch });
    const dataFiles = async (): Promise<string[]> => {
      const paths = await lake.filesIn('iceberg/finance/bills/data');
      return paths.filter((path) => path.endsWith('.parquet')).sort();
    };
    const before = await dataFiles();
    const proxy = await startS3Proxy(s3.env.AWS_ENDPOINT_URL ?? '', (incoming, outgoing) => {
      const asked = new URL(incoming.url ?? '', s3.env.AWS_ENDPOINT_URL);
      const { method = 'GET', headers } = incoming;
      if (method !== 'DELETE' || !asked.pathname.includes('/iceberg/finance/bills/data/'))
        return incoming.pipe(pass(asked, { method, headers }, outgoing));
      incoming.resume();
      return outgoing.writeHead(status).end(body);
    });
    // The file with the record, and the one that gave the columns of the empty table.
    expect(await proxy.use(() => erase(place))).toEqual([
      expect.stringMatching(/^The lake s3:\S+ did not delete 2 files \(they are still listed\)/),
    ]);
    expect(await dataFiles()).toEqual(expect.arrayContaining(before));
    expect(await erase(place)).toEqual([]);
    expect(await dataFiles()).toEqual(filesOf(await manifestsIn(lake)));
  },
);

proofTest(
  'an erasure in the former place of a moved lake leaves the catalog alone, and removes the Iceberg files there',
  async () => {
    const { place } = await exportTwice();
    const moved = freshPlace();
    await cp(place, moved, { recursive: true });
    await exportNow({ lake: moved, force: true });
    const mart = join(place, 'iceberg/marts/totals/data/of-a-mart.parquet');
    await mkdir(dirname(mart), { recursive: true });
    await writeFile(mart, 'of a mart');
    const catalog = await rows(warehouse, 'select * from iceberg.iceberg_tables order by table_name');
    expect(await erase(place)).toEqual([
      expect.stringContaining(
        `The Iceberg tables in ${moved}, which the catalog leads to, were not searched and may hold the record.`,
      ),
    ]);
    expect(await rows(warehouse, 'select * from iceberg.iceberg_tables order by table_name')).toEqual(
      catalog,
    );
    expect(await readdir(join(place, 'iceberg'))).toEqual([]);
    await expectShown(moved);
  },
);

proofTest.each([
  { status: 403, file: 'metadata of a mart', path: /iceberg\/marts\/totals\/metadata\/.*json$/ },
  { status: 404, file: 'metadata of a mart', path: /iceberg\/marts\/totals\/metadata\/.*json$/ },
  { status: 403, file: 'list of complete marts', path: /iceberg\/marts\/snapshots\/data\// },
])(
  'an Iceberg table keeps its snapshots if a bucket answers $status once for the $file',
  async ({ status, path }) => {
    const place = await freshLake(`s3://${s3.bucket}`);
    const ids = await exportEach(place, ['stays', 'erased']);
    for (const id of ids) await showTotals(place, id);
    let refused = 0;
    const proxy = await startS3Proxy(s3.env.AWS_ENDPOINT_URL ?? '', (incoming, outgoing) => {
      const asked = new URL(incoming.url ?? '', s3.env.AWS_ENDPOINT_URL);
      const { method = 'GET', headers } = incoming;
      if (refused > 0 || !['GET', 'HEAD'].includes(method) || !path.test(asked.pathname))
        return incoming.pipe(pass(asked, { method, headers }, outgoing));
      refused += 1;
      incoming.resume();
      return outgoing.writeHead(status).end();
    });
    expect(await proxy.use(() => erase(place, 'nobody'))).toEqual([]);
    expect(refused).toBe(1);
    expect(await martsShown()).toEqual(ids);
  },
);

proofTest('an Iceberg table keeps every snapshot if a bucket refuses once to read a data file', async () => {
  const place = await freshLake(`s3://${s3.bucket}`);
  await exportEach(place, ['stays', 'erased']);
  let refused = 0;
  const proxy = await startS3Proxy(s3.env.AWS_ENDPOINT_URL ?? '', (incoming, outgoing) => {
    const asked = new URL(incoming.url ?? '', s3.env.AWS_ENDPOINT_URL);
    const { method = 'GET', headers } = incoming;
    const isPyArrow = String(headers['user-agent']).includes('aws-sdk-cpp');
    if (refused > 0 || !isPyArrow || !asked.pathname.includes('iceberg/finance/bills/data/'))
      return incoming.pipe(pass(asked, { method, headers }, outgoing));
    refused += 1;
    incoming.resume();
    return outgoing.writeHead(403).end();
  });
  expect(await proxy.use(() => erase(place))).toEqual([]);
  expect(refused).toBe(1);
  const lake = await openLake({ location: place, scratch });
  const seen = await readIceberg(url, { reader: 'pyiceberg', tables: ['bills'] });
  expect(Object.keys(seen).sort()).toEqual(await lake.snapshotIds());
});

proofTest('an erasure through a link to the lake leaves the Iceberg tables as they are', async () => {
  const { place, stays, holds } = await exportTwice();
  for (const id of [stays, holds]) await showTotals(place, id);
  const link = freshPlace();
  await symlink(place, link);
  const catalog = await rows(warehouse, 'select * from iceberg.iceberg_tables order by table_name');
  expect(await erase(link, 'nobody')).toEqual([]);
  expect(await rows(warehouse, 'select * from iceberg.iceberg_tables order by table_name')).toEqual(catalog);
  expect(await martsShown()).toEqual([stays, holds]);
  await expectShown(place);
});

test.each(
  some([
    { leads: 'elsewhere', exported: ['stays'] },
    { leads: 'nowhere', exported: [] },
  ]),
)(
  'an erasure in a folder that is not our lake removes nothing and says what was not searched: the catalog leads $leads',
  async ({ exported }) => {
    const place = await freshLake();
    await exportEach(place, exported);
    const wrong = freshPlace();
    const theirs = ['iceberg/finance/theirs/data', 'iceberg/marts/theirs/metadata'].map((path) =>
      join(wrong, path),
    );
    for (const folder of theirs) {
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, 'x.parquet'), 'theirs');
    }
    expect(await erase(wrong)).toEqual([
      ...exported.map(
        () =>
          expect.stringContaining(
            `The Iceberg tables in ${place}, which the catalog leads to, were not searched`,
          ) as string,
      ),
      expect.stringContaining(`The files below iceberg/finance of the lake ${wrong} were not searched.`),
      expect.stringContaining(`The files below iceberg/marts of the lake ${wrong} were not searched.`),
    ]);
    for (const folder of theirs) expect(await readdir(folder)).toEqual(['x.parquet']);
  },
);

test('an erasure removes an Iceberg table that cannot be written to, with the files that held the record', async () => {
  const place = await freshLake();
  await exportEach(place, ['erased']);
  const lake = await openLake({ location: place, scratch });
  const held = filesOf(await manifestsIn(lake));
  const file = await metadataFile();
  const metadata = JSON.parse(await readFile(file, 'utf8')) as {
    schemas: { fields: { name: string; type: string }[] }[];
  };
  for (const { fields } of metadata.schemas)
    for (const field of fields) if (field.name === 'memo') field.type = 'int';
  await writeFile(file, JSON.stringify(metadata));
  expect(await erase(place)).toEqual([]);
  const left = (await lake.filesIn('iceberg')).map((path) => path.split('/').at(-1));
  expect(held).not.toEqual([]);
  expect(left).not.toEqual(expect.arrayContaining(held));
  expect((await exportNow({ lake: place, force: true })).icebergProblem).toBeUndefined();
});

async function exportTwice(): Promise<Lakes> {
  const place = await freshLake();
  const [stays = '', holds = ''] = await exportEach(place, ['stays', 'erased']);
  return { place, stays, holds };
}

/** Exports after each of these bills has come. The last export shows all snapshots in the Iceberg tables. */
async function exportEach(place: string, bills: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const [index, id] of bills.entries()) {
    landed += 1;
    const memo = text(`memo ${landed} of ${id}`);
    const at = `"2030-01-01T00:00:${String(landed).padStart(2, '0')}Z"`;
    const page = [bill(id, { memo, last_synced_at: at })];
    await land(warehouse, { connectionId, stream: 'bills', pages: [page] });
    const add = index === bills.length - 1;
    const { snapshotId, icebergProblem } = await exportNow({
      lake: place,
      force: true,
      iceberg: { add, cacheFolder },
    });
    expect(icebergProblem).toBeUndefined();
    ids.push(snapshotId);
  }
  return ids;
}

/** Creates a lake, and forgets every other. */
async function freshLake(parent?: string): Promise<string> {
  for (const table of ['finance.bills', 'sync.snapshots', 'iceberg.iceberg_tables'])
    await rows(warehouse, `delete from ${table}`);
  return freshPlace(parent);
}

function freshPlace(parent = join(location, '..')): string {
  lakes += 1;
  return `${parent}/lake-${lakes}`;
}

/** Erases the record, and returns what was kept. */
async function erase(place: string, id = 'erased'): Promise<string[]> {
  const settings = settingsOf({ ...env, DAYBOOK_LAKE: place });
  const kept: string[] = [];
  const record = { connectionId, resource: bills, id };
  await eraseFromLake(
    { settings: { ...settings, marts: { ...settings.marts, cacheFolder } }, warehouse },
    record,
    {
      updateDependents: () => Promise.resolve(),
      onKept: ({ message }) => kept.push(message),
    },
  );
  return kept;
}

/** Shows a mart with one row for the snapshot. */
async function showTotals(place: string, id: string): Promise<void> {
  const lake = await openLake({ location: place, scratch });
  const query = `select 'mine' as connection_id, '${id}' as snapshot_id`;
  await showMart(lake, { databaseUrl: url, cacheFolder, scratch }, { id, query });
}

/** The snapshots for which readers see the mart. */
async function martsShown(): Promise<string[]> {
  const seen = await readIceberg(url, { reader: 'pyiceberg', namespace: 'marts', tables: ['totals'] });
  return Object.keys(seen).sort();
}

/** Expects that the tables have exactly the files of the existing snapshots. */
async function expectShown(place: string): Promise<void> {
  const lake = await openLake({ location: place, scratch });
  const manifests = await manifestsIn(lake);
  const data = await readdir(join(place, 'iceberg/finance/bills/data'));
  expect(data.sort()).toEqual(filesOf(manifests));
  const seen = await readIceberg(url, { reader: 'pyiceberg', tables: ['bills'] });
  expect(seen).toMatchObject(
    Object.fromEntries(manifests.map((one) => [one.snapshot_id, manifestSeen(one, ['bills'])])),
  );
}

async function manifestsIn(lake: Lake): Promise<Manifest[]> {
  const ids = await lake.snapshotIds();
  return Promise.all(ids.map(async (id) => (await readManifest(lake, id))!));
}

/** The files of bills, as Iceberg tables name them. */
function filesOf(manifests: readonly Manifest[]): string[] {
  const listed = manifests.flatMap(({ tables }) => tables.bills!.files.filter(({ rows }) => rows > 0));
  return [...new Set(listed.map(({ sha256 }) => `${sha256}.parquet`))].sort();
}

function snapshotOf({ refs, snapshots }: Metadata, tag: string): Metadata['snapshots'][number] {
  return snapshots.find((one) => one['snapshot-id'] === refs[tag]!['snapshot-id'])!;
}

/** The metadata file of bills. */
async function metadataFile(): Promise<string> {
  const { metadata_location: at } = await row(
    warehouse,
    `select metadata_location from iceberg.iceberg_tables where table_namespace = 'finance' and table_name = 'bills'`,
  );
  return fileURLToPath(String(at));
}
