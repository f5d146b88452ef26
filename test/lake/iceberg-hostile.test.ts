import { execFile, execFileSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, symlinkSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { showSnapshots } from '../../iceberg/show-snapshots.ts';
import { runTablesProgram } from '../../iceberg/tables-program.ts';
import { openDuckDb } from '../../lake/parquet/duck-db.ts';
import { openLake } from '../../lake/open-lake.ts';
import { readManifest } from '../../lake/manifest/pointer.ts';
import { processTable } from '../../embedded/process-table.ts';
import { bill } from '../support/finance-records.ts';
import { eventually } from '../support/eventually.ts';
import { land } from '../support/land.ts';
import { proofTest, some } from '../support/proof-test.ts';
import { row, rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { cacheFolder } from '../support/cache-folder.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake } from './create-test-lake.ts';
import { pythonWithReaders } from './python-with-readers.ts';
import { readIceberg } from './read-iceberg.ts';

// An attacker can write in the lake, and nowhere else.
const { warehouse, url } = await createTestDatabase();
const { exportNow, location, scratch, owner } = await createTestLake(url, {
  iceberg: { add: true, cacheFolder },
});
const lake = await openLake({ location, scratch: `${scratch}-of-reader` });
const places = { databaseUrl: url, cacheFolder, scratch: join(scratch, 'iceberg') };
const connectionId = await addTestConnection(warehouse);
await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b1'), bill('b2')]] });
await exportNow();
const outside = await mkdtemp(join(tmpdir(), 'daybook-test-outside-'));
afterAll(() => rm(outside, { recursive: true, force: true }));

const sign = join(outside, 'was-here');

interface Metadata {
  'table-uuid': string;
  'current-snapshot-id': number;
  properties: Record<string, string>;
  'metadata-log': { 'metadata-file': string; 'timestamp-ms': number }[];
  refs: Record<string, { 'snapshot-id': number; type?: string }>;
  snapshots: { 'snapshot-id': number; 'manifest-list': string; summary?: Record<string, string> }[];
}

interface Attack {
  what: string;
  attack: () => Promise<void>;
}

const attacks: Attack[] = [
  {
    what: 'its metadata names files outside as old ones, which are removed',
    async attack() {
      await writeFile(join(outside, 'precious'), 'books');
      await edit('bills', (metadata) => {
        const old = { 'metadata-file': `file://${outside}/precious`, 'timestamp-ms': 1 };
        metadata['metadata-log'] = Array.from({ length: 20 }, () => old);
      });
    },
  },
  {
    what: 'its metadata names code to load',
    async attack() {
      const file = join(location, 'evil.ini');
      const handler = `__import__('pathlib').Path('${sign}').touch()`;
      await writeFile(
        file,
        `[loggers]\nkeys=root\n[formatters]\nkeys=\n[handlers]\nkeys=h\n[logger_root]\nhandlers=h\n[handler_h]\nclass=${handler}\nargs=()\n`,
      );
      await edit('bills', ({ properties }) => {
        Object.assign(properties, { 'py-io-impl': 'logging.config.fileConfig', [file]: '' });
      });
    },
  },
  {
    what: 'its metadata says where to write',
    attack: () =>
      edit('bills', ({ properties }) => {
        properties['write.metadata.path'] = `file://${outside}/metadata`;
        properties['write.location-provider.impl'] = 'os.system';
      }),
  },
  {
    what: 'its metadata is cut',
    attack: () => overwrite('bills', /\.metadata\.json$/, (content) => content.subarray(0, 300)),
  },
  {
    what: 'its list of files is empty',
    attack: () => overwrite('bills', /^snap-/, () => Buffer.alloc(0)),
  },
  {
    what: 'its list of files is no list',
    attack: () => overwrite('bills', /-m0\.avro$/, () => Buffer.from('garbage')),
  },
  {
    what: 'its snapshots do not say what they hold',
    attack: () =>
      edit('bills', ({ snapshots }) => {
        for (const snapshot of snapshots) delete snapshot.summary;
      }),
  },
  {
    what: 'what lists the snapshots is garbage',
    attack: () => overwrite('snapshots', /^snap-/, () => Buffer.from('garbage')),
  },
];

test.each(some(attacks))(
  'an export writes an Iceberg table and touches nothing outside of the lake, although $what',
  async ({ attack }) => {
    await attack();
    await rows(warehouse, `update finance.bills set memo = memo || 'x' where connection_id = $1`, [
      connectionId,
    ]);
    const { icebergProblem, icebergTables, tables } = await exportNow();
    expect(icebergProblem).toBeUndefined();
    expect(icebergTables).toBe(tables);
    expect((await readdir(outside)).filter((name) => name !== 'precious')).toEqual([]);
    if (existsSync(join(outside, 'precious')))
      expect(await readFile(join(outside, 'precious'), 'utf8')).toBe('books');
  },
);

const foreign: Attack[] = [
  {
    what: 'its metadata is a pipe, which nobody writes to',
    async attack() {
      const file = await metadataOf('bills');
      await rm(file);
      execFileSync('mkfifo', [file]);
    },
  },
  {
    what: 'its metadata is a link to a file outside of the lake',
    async attack() {
      const file = await metadataOf('bills');
      await rename(file, join(outside, 'metadata.json'));
      symlinkSync(join(outside, 'metadata.json'), file);
    },
  },
  {
    what: 'its metadata is larger than any that Daybook writes',
    async attack() {
      const file = await metadataOf('bills');
      await writeFile(file, (await readFile(file, 'utf8')).padEnd(64 * 2 ** 20 + 1));
    },
  },
  {
    what: 'its list of files names one outside of its folder',
    async attack() {
      const { snapshots } = await readMetadata('bills');
      const lists = snapshots.map((snapshot) => fileURLToPath(snapshot['manifest-list']));
      await promisify(execFile)(await pythonWithReaders(), ['-c', moveManifests, outside, ...lists]);
    },
  },
  {
    what: 'its list of files is 100 kB, and 65 MB once it is unpacked',
    async attack() {
      const { snapshots } = await readMetadata('bills');
      const lists = snapshots.map((snapshot) => fileURLToPath(snapshot['manifest-list']));
      await promisify(execFile)(await pythonWithReaders(), ['-c', growManifests, ...lists]);
      for (const list of lists) expect((await stat(list)).size).toBeLessThan(200_000);
    },
  },
  {
    what: 'its lists of files are 150 kB each, and 150 MB together once they are unpacked',
    async attack() {
      const { snapshots, 'current-snapshot-id': current } = await readMetadata('bills');
      const list = snapshots.find((one) => one['snapshot-id'] === current)?.['manifest-list'] ?? '';
      await promisify(execFile)(await pythonWithReaders(), ['-c', growEntries, fileURLToPath(list)]);
    },
  },
  {
    what: 'its metadata lists more snapshots than Daybook follows',
    attack: () =>
      edit('bills', ({ snapshots }) => {
        const [first] = snapshots;
        const others = Array.from({ length: 20_001 }, (_, at) => ({ ...first!, 'snapshot-id': at + 1 }));
        snapshots.push(...others);
      }),
  },
];

test.each(some(foreign, 2))('an Iceberg table is rebuilt where $what', async ({ attack }) => {
  const { 'table-uuid': before } = await readMetadata('bills');
  await attack();
  const { icebergProblem, icebergTables, tables } = await exportNow({ force: true });
  expect(icebergProblem).toBeUndefined();
  expect(icebergTables).toBe(tables);
  expect((await readMetadata('bills'))['table-uuid']).not.toBe(before);
  for (const name of ['metadata.json', 'manifest.avro']) await rm(join(outside, name), { force: true });
});

const listAttacks: Attack[] = [
  { what: 'pages that are packed', attack: () => changeList('rows', 'zstd') },
  {
    what: 'a million rows in 30 kB',
    attack: () => changeList('rows.take([at * len(rows) // 1_000_001 for at in range(1_000_001)])', 'none'),
  },
  {
    what: 'a name of half a megabyte in each row',
    attack: () =>
      changeList('rows.set_column(2, "table_name", pa.array(["x" * 500_000] * len(rows)))', 'none'),
  },
];

test.each(some(listAttacks))(
  'the list of complete snapshots is rebuilt where its file has $what',
  async ({ attack }) => {
    const { 'table-uuid': before } = await readMetadata('snapshots');
    await attack();
    const { icebergProblem, icebergTables, tables } = await exportNow({ force: true });
    expect(icebergProblem).toBeUndefined();
    expect(icebergTables).toBe(tables);
    expect((await readMetadata('snapshots'))['table-uuid']).not.toBe(before);
    const seen = await readIceberg(url, { reader: 'pyiceberg', tables: ['bills'] });
    expect(Object.keys(seen).sort()).toEqual(await lake.snapshotIds());
    // The table made again is reused.
    const { 'table-uuid': made } = await readMetadata('snapshots');
    await exportNow({ force: true });
    expect((await readMetadata('snapshots'))['table-uuid']).toBe(made);
  },
);

const goesOn = 'removes what has to go, though a list of files cannot be read of a snapshot that stays';

test(`an erasure ${goesOn}`, async () => {
  await expectGone(() => showSnapshots(lake, places, { owner, add: true, sweep: true, newest: undefined }));
});

proofTest(`an export ${goesOn}`, async () => {
  await expectGone(async () => {
    expect((await exportNow()).icebergProblem).toBeUndefined();
  });
});

async function expectGone(work: () => Promise<unknown>): Promise<void> {
  const ids: string[] = [];
  for (const memo of ['stays', 'goes', 'is newest']) {
    await rows(warehouse, 'update finance.bills set memo = $1 where id = $2', [
      `${randomUUID()} ${memo}`,
      'b2',
    ]);
    ids.push((await exportNow()).snapshotId);
  }
  const [stays = '', goes = ''] = ids;
  const { refs, snapshots } = await readMetadata('bills');
  const list = snapshots.find((one) => one['snapshot-id'] === refs[stays]?.['snapshot-id'])?.[
    'manifest-list'
  ];
  await writeFile(fileURLToPath(list ?? ''), 'garbage');
  const held = (await readManifest(lake, goes))?.tables.bills?.files.map(({ sha256 }) => `${sha256}.parquet`);
  expect(dataOf('bills')).toEqual(expect.arrayContaining(held ?? []));
  await lake.removeSnapshot(goes);
  await work();
  const seen = await readIceberg(url, { reader: 'pyiceberg', tables: ['bills'] });
  expect(Object.keys(seen).sort()).toEqual(await lake.snapshotIds());
  expect(held?.filter((name) => dataOf('bills').includes(name))).toEqual([]);
}

proofTest(
  'a snapshot that Iceberg tables cannot show (no Parquet, another column type) is reported; the others are shown',
  async () => {
    const whole = await lake.snapshotIds();
    const planted = [
      await plantCopy((file) => writeFile(file, 'no Parquet')),
      await plantCopy(async (file) => {
        const duckDb = await openDuckDb({ spillFolder: scratch });
        const query = `select '${connectionId}' as connection_id, 'b1' as id, true as total_amount`;
        await (await duckDb.connect()).run(`copy (${query}) to '${file}' (format parquet)`);
        duckDb.close();
      }),
    ].sort();
    const expectOthersShown = async (): Promise<void> => {
      await rows(warehouse, 'update finance.bills set memo = $1 where id = $2', [randomUUID(), 'b2']);
      const { snapshotId, tables, icebergTables, icebergProblem } = await exportNow();
      whole.push(snapshotId);
      expect(icebergProblem).toContain(`The Iceberg tables do not show ${planted.join(', ')}:`);
      expect(icebergTables).toBe(tables);
      const seen = await readIceberg(url, { reader: 'pyiceberg', tables: ['bills'] });
      expect(Object.keys(seen).sort()).toEqual(whole);
    };
    await expectOthersShown();
    // Then the tables have no earlier types, and the planted ones come first.
    await rows(warehouse, 'delete from iceberg.iceberg_tables');
    await expectOthersShown();
    const { left } = await showSnapshots(lake, places, { owner, add: true, sweep: true, newest: undefined });
    expect(left).toEqual(planted);
    for (const id of planted) await lake.removeSnapshot(id);
    expect(await exportNow()).not.toHaveProperty('icebergProblem');
  },
);

test('names in the folder of its metadata that are none of ours cost a table nothing, and go with an erasure', async () => {
  await exportNow({ force: true });
  const { 'table-uuid': before } = await readMetadata('bills');
  const folder = join(location, 'iceberg/finance/bills/metadata');
  const foreignNames = ['x.metadata.json', '-.metadata.json', '9_9-x.metadata.json'];
  for (const name of foreignNames) await writeFile(join(folder, name), '');
  expect((await exportNow({ force: true })).icebergProblem).toBeUndefined();
  expect((await readMetadata('bills'))['table-uuid']).toBe(before);
  await showSnapshots(lake, places, { owner, add: true, sweep: true, newest: undefined });
  expect((await readMetadata('bills'))['table-uuid']).toBe(before);
  expect((await readdir(folder)).filter((name) => foreignNames.includes(name))).toEqual([]);
});

proofTest('thousands of tags of no snapshot are removed in seconds', async () => {
  const { snapshotId } = await exportNow({ force: true });
  await edit('bills', ({ refs, 'current-snapshot-id': current }) => {
    for (let at = 0; at < 3_000; at += 1) refs[`foreign-${at}`] = { 'snapshot-id': current, type: 'tag' };
  });
  const { 'table-uuid': before } = await readMetadata('bills');
  const started = performance.now();
  expect((await exportNow({ force: true })).icebergProblem).toBeUndefined();
  expect(performance.now() - started).toBeLessThan(60_000);
  const { 'table-uuid': after, refs } = await readMetadata('bills');
  expect(after).toBe(before);
  expect(Object.keys(refs).sort()).toEqual([...(await lake.snapshotIds()), 'main']);
  expect(refs).toHaveProperty(snapshotId);
});

test('the program that removes many files says something meanwhile, and asks before each whether the tables are still its own', async () => {
  const { stdout } = await promisify(execFile)(await pythonWithReaders(), ['-c', sweepMany, programs]);
  expect(stdout.trim().split('\n')).toEqual([
    ...Array.from({ length: 3 }, () => '{"swept": "bills"}'),
    'left 0, asked 1201',
  ]);
});

test('the program runs no compiled file that lies beside its sources', async () => {
  const copy = join(outside, 'programs');
  await cp(programs, copy, { recursive: true });
  const imported = promisify(execFile)(await pythonWithReaders(), ['-B', '-c', plantCompiled, copy]);
  expect((await imported).stdout).toBe('of its source\n');
  await rm(copy, { recursive: true });
});

test('a sweep removes nothing behind a link that is planted while the tables are committed', async () => {
  const victim = join(outside, 'victim');
  await mkdir(join(victim, 'deep'), { recursive: true });
  for (const name of ['key', 'deep/key']) await writeFile(join(victim, name), 'secret');
  const links = ['data/zz', 'metadata/zz'].map((path) => join(location, 'iceberg/finance/bills', path));
  await showSnapshots(lake, places, {
    owner,
    add: true,
    newest: undefined,
    sweep: true,
    onCommitted: () => {
      for (const link of links) if (!existsSync(link)) symlinkSync(victim, link);
    },
  });
  expect((await readdir(victim, { recursive: true })).sort()).toEqual(['deep', 'deep/key', 'key']);
  for (const path of [...links, victim]) await rm(path, { recursive: true });
});

test('the program of the Iceberg tables is ended if it stays silent, even while it waits for a lock', async () => {
  const client = await warehouse.pool.connect();
  try {
    await client.query('begin');
    await client.query('lock table iceberg.iceberg_namespace_properties in access exclusive mode');
    const namespace = 'finance' as const;
    const job = { lake: location, namespace, check: false, kept: [], sweep: false, erases: false };
    const answer = (): Promise<never> => Promise.reject(new Error('it asked'));
    await expect(runTablesProgram({ ...places, mostSilentMs: 1_000 }, job, { answer })).rejects.toThrow(
      'The Iceberg tables do not show every snapshot (its program said nothing for 1 s)',
    );
  } finally {
    await client.query('rollback');
    client.release();
  }
});

test('a check of the tables of another program removes nothing without the lock of who started it', async () => {
  const file = join(location, 'iceberg/marts_spark/bills/data/of-the-next.parquet');
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(file, 'rows');
  await rows(
    warehouse,
    `insert into iceberg.iceberg_namespace_properties values ('daybook', 'marts_spark', 'exists', 'true') on conflict do nothing`,
  );
  const job = {
    lake: location,
    namespace: 'marts_spark',
    check: true,
    kept: [],
    sweep: true,
    erases: false,
  } as const;
  const lost = (): Promise<never> => Promise.reject(new Error('The lock is lost.'));
  await expect(runTablesProgram(places, job, { answer: lost })).rejects.toThrow('The lock is lost.');
  expect(await readFile(file, 'utf8')).toBe('rows');
  await runTablesProgram(places, job, { answer: () => Promise.resolve([]) });
  await expect(readFile(file)).rejects.toThrow('ENOENT');
});

proofTest.skipIf(process.platform !== 'linux')(
  'the program of the Iceberg tables keeps its lock while it waits for minutes, and loses it while it stands still',
  async () => {
    const namespace = 'finance' as const;
    const job = { lake: location, namespace, check: false, kept: [], sweep: false, erases: false };
    const isFree = (): Promise<boolean> =>
      rows(
        warehouse,
        `select from iceberg.iceberg_namespace_properties where namespace = 'finance' for update skip locked`,
      ).then((free) => free.length > 0);
    const answer = async (): Promise<never[]> => {
      const pid = await pidOfProgram();
      await wait(40_000);
      expect(await isFree()).toBe(false);
      process.kill(pid, 'SIGSTOP');
      try {
        await eventually(async () => (await isFree()) || undefined, 60);
      } finally {
        process.kill(pid, 'SIGCONT');
      }
      return [];
    };
    await expect(runTablesProgram(places, job, { answer })).rejects.toThrow(
      'The Iceberg tables do not show every snapshot',
    );
  },
);

/** The process of the program that this one has started. */
async function pidOfProgram(): Promise<number> {
  for (const { pid, commandLine } of await processTable()) {
    if (!commandLine.includes('publish_tables.py')) continue;
    if ((await readFile(`/proc/${pid}/status`, 'utf8')).includes(`PPid:\t${process.pid}\n`)) return pid;
  }
  throw new Error('The program does not run.');
}

test('a file in the place of an Iceberg table’s folder is reported, and the snapshot is published', async () => {
  const folder = join(location, 'iceberg/finance/bills');
  await rm(folder, { recursive: true });
  await writeFile(folder, '');
  expect(await exportNow({ force: true })).toMatchObject({
    icebergProblem: expect.stringContaining('iceberg/finance/bills is no folder; move it away') as string,
  });
  await rm(folder);
  expect((await exportNow()).icebergProblem).toBeUndefined();
});

test('the file outside of the lake is still there', async () => {
  expect(await readdir(outside)).toEqual(['precious']);
});

const programs = fileURLToPath(new URL('../../iceberg', import.meta.url));

/** Sweeps 1,200 files that no table names. */
const sweepMany = `
import sys, time
sys.path.insert(0, sys.argv[1])
import publish_tables
names, asked = {f"{at}.parquet" for at in range(1_200)}, []

class Slow:
    def names_in(self, table, kind):
        return list(names) if kind == "data" else []

    def remove(self, table, kind, name):
        time.sleep(0.001)
        names.discard(name)

class Table:
    io = None

namespace = object.__new__(publish_tables.Namespace)
namespace.files, namespace.tables = Slow(), {"bills": Table()}
namespace._named = lambda *_: set()
namespace._require_lock = lambda: asked.append(1)
left = namespace._sweep_table("bills")
print(f"left {left}, asked {len(asked)}")
`;

/** Plants a compiled file that Python does not compare with its source. */
const plantCompiled = `
import importlib.util, py_compile, sys
source = f"{sys.argv[1]}/own_files.py"
with open(f"{sys.argv[1]}/planted.py", "w") as planted:
    planted.write("FOLDER = MOST_BYTES = TABLE = ForeignFile = OwnFile = OwnFileIO = 0")
unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
py_compile.compile(planted.name, importlib.util.cache_from_source(source), invalidation_mode=unchecked)
sys.path.insert(0, sys.argv[1])
import publish_tables
print("of its source" if publish_tables.OwnFileIO else "planted")
`;

/** Moves the manifests of a list of files, which names them by their paths. */
const moveManifests = `
import shutil, sys
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import read_manifest_list, write_manifest_list
io, outside = PyArrowFileIO({}), sys.argv[1]
for path in sys.argv[2:]:
    manifests = list(read_manifest_list(io.new_input(path)))
    for one in manifests:
        shutil.copy(one.manifest_path.removeprefix("file://"), outside + "/manifest.avro")
        one[0] = f"file://{outside}/manifest.avro"
    with write_manifest_list(2, io.new_output(path), manifests[0].added_snapshot_id, None, 1, "null") as writer:
        writer.add_manifests(manifests)
`;

/** Grows the manifests of a list of files that is otherwise right. */
const growManifests = `
import sys
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import read_manifest_list, write_manifest_list
io, key_metadata = PyArrowFileIO({}), 14
for path in sys.argv[1:]:
    manifests = list(read_manifest_list(io.new_input(path)))
    with write_manifest_list(2, io.new_output(path), manifests[0].added_snapshot_id, None, 1, "gzip") as writer:
        for one, megabytes in zip(manifests, [65, *(0 for _ in manifests)]):
            one[key_metadata] = bytes(megabytes << 20)
            writer.add_manifests([one])
`;

/** Makes a list name three manifests, each of which lists the same file with 50 MB of data that nobody reads. */
const growEntries = `
import os, sys
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import DATA_FILE_TYPE, read_manifest_list, write_manifest, write_manifest_list
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
io, path = PyArrowFileIO({}), sys.argv[1]
key_metadata = [field.name for field in DATA_FILE_TYPE[2].fields].index("key_metadata")
first = next(read_manifest_list(io.new_input(path)))
entry = first.fetch_manifest_entry(io)[0]
entry.data_file[key_metadata] = bytes(50 << 20)
manifests = []
for at in range(3):
    output = io.new_output(f"file://{os.path.dirname(path)}/grown-m{at}.avro")
    with write_manifest(2, PartitionSpec(), Schema(), output, first.added_snapshot_id, "gzip") as writer:
        writer.add_entry(entry)
    manifests.append(writer.to_manifest_file())
with write_manifest_list(2, io.new_output(path), first.added_snapshot_id, None, 1, "null") as writer:
    writer.add_manifests(manifests)
`;

/** Changes the file that lists the snapshots, together with its recorded facts. */
const changeListFile = `
import sys
import pyarrow as pa, pyarrow.parquet as pq
change, codec = sys.argv[1:3]
for path in sys.argv[3:]:
    rows = pq.ParquetFile(path).read()
    pq.write_table(eval(change), path, compression=codec)
`;

async function changeList(change: string, codec: string): Promise<void> {
  const folder = join(location, 'iceberg/finance/snapshots/data');
  const files = (await readdir(folder)).map((name) => join(folder, name));
  await promisify(execFile)(await pythonWithReaders(), ['-c', changeListFile, change, codec, ...files]);
  for (const file of files) expect((await stat(file)).size).toBeLessThan(1_000_000);
}

async function edit(table: string, change: (metadata: Metadata) => void): Promise<void> {
  const metadata = await readMetadata(table);
  change(metadata);
  await writeFile(await metadataOf(table), JSON.stringify(metadata));
}

async function readMetadata(table: string): Promise<Metadata> {
  return JSON.parse(await readFile(await metadataOf(table), 'utf8')) as Metadata;
}

async function metadataOf(table: string): Promise<string> {
  const { metadata_location: at } = await row(
    warehouse,
    'select metadata_location from iceberg.iceberg_tables where table_name = $1',
    [table],
  );
  return fileURLToPath(String(at));
}

/** Plants a copy of the oldest snapshot, as an attacker with write access does: as an earlier one, with another file of bills. Returns its ID. */
async function plantCopy(change: (file: string) => Promise<void>): Promise<string> {
  const [from = ''] = await lake.snapshotIds();
  const id = `20250101T000000Z-${randomUUID().slice(0, 6)}`;
  const folder = join(location, 'snapshots', id);
  await cp(join(location, 'snapshots', from), folder, { recursive: true });
  const manifest = await readManifest(lake, from);
  const file = manifest?.tables.bills?.files[0];
  if (manifest === undefined || file === undefined) throw new Error(`${from} has no bills`);
  const path = join(folder, file.path);
  await rm(path);
  await change(path);
  const content = await readFile(path);
  const rows = content.includes('total_amount') ? 1 : 2;
  Object.assign(file, {
    sha256: createHash('sha256').update(content).digest('hex'),
    bytes: content.length,
    rows,
  });
  await writeFile(join(folder, '_manifest.json'), JSON.stringify({ ...manifest, snapshot_id: id }));
  return id;
}

function dataOf(table: string): string[] {
  return readdirSync(join(location, 'iceberg/finance', table, 'data'));
}

async function overwrite(table: string, which: RegExp, change: (content: Buffer) => Buffer): Promise<void> {
  const folder = join(location, 'iceberg/finance', table, 'metadata');
  const names = (await readdir(folder)).filter((name) => which.test(name));
  expect(names).not.toEqual([]);
  for (const name of names) await writeFile(join(folder, name), change(await readFile(join(folder, name))));
}
