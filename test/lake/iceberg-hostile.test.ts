import { existsSync } from 'node:fs';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { bill } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { some } from '../support/proof-test.ts';
import { row, rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake } from './export-of.ts';

// Somebody may write in the lake, and nowhere else.
const { warehouse, url } = await createTestDatabase();
const cacheFolder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'daybook');
const { exportNow, location } = await createTestLake(url, { iceberg: { add: true, cacheFolder } });
const connectionId = await addTestConnection(warehouse);
await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b1'), bill('b2')]] });
await exportNow();
const outside = await mkdtemp(join(tmpdir(), 'daybook-test-outside-'));
afterAll(() => rm(outside, { recursive: true, force: true }));

const sign = join(outside, 'was-here');

interface Metadata {
  properties: Record<string, string>;
  'metadata-log': { 'metadata-file': string; 'timestamp-ms': number }[];
  snapshots: { summary?: Record<string, string> }[];
}

const attacks: { what: string; attack: () => Promise<void> }[] = [
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

test.each(some(attacks, 3))('a table is made again where $what', async ({ attack }) => {
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
});

test('a file in the place of a folder is told, and the snapshot is published', async () => {
  const folder = join(location, 'iceberg/finance/bills');
  await rm(folder, { recursive: true });
  await writeFile(folder, '');
  expect(await exportNow({ force: true })).toMatchObject({
    icebergProblem: expect.stringContaining('iceberg/finance/bills is no folder; move it away') as string,
  });
  await rm(folder);
  expect((await exportNow()).icebergProblem).toBeUndefined();
});

test('the file outside is there', async () => {
  expect(await readdir(outside)).toEqual(['precious']);
});

async function edit(table: string, change: (metadata: Metadata) => void): Promise<void> {
  const { metadata_location: at } = await row(
    warehouse,
    'select metadata_location from iceberg.iceberg_tables where table_name = $1',
    [table],
  );
  const file = fileURLToPath(String(at));
  const metadata = JSON.parse(await readFile(file, 'utf8')) as Metadata;
  change(metadata);
  await writeFile(file, JSON.stringify(metadata));
}

async function overwrite(table: string, which: RegExp, change: (content: Buffer) => Buffer): Promise<void> {
  const folder = join(location, 'iceberg/finance', table, 'metadata');
  const names = (await readdir(folder)).filter((name) => which.test(name));
  expect(names).not.toEqual([]);
  for (const name of names) await writeFile(join(folder, name), change(await readFile(join(folder, name))));
}
