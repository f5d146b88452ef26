import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { DuckDBInstance } from '@duckdb/node-api';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { idWithout } from '../../lake/snapshots/erase-from-snapshots.ts';
import { buildRowsToErase } from '../../operations/erase-from-lake.ts';
import { resourceNamed } from '../../resources/index.ts';
import { createTestLake } from '../lake/create-test-lake.ts';
import { startS3Server } from '../lake/s3-server.ts';
import { startUnreadableProxy, unreadable } from '../lake/unreadable-proxy.ts';
import { bill } from '../support/finance-records.ts';
import { createInstallation } from '../support/installation.ts';
import { land } from '../support/land.ts';
import { proofTest, some } from '../support/proof-test.ts';
import { rows } from '../support/rows.ts';

const { connect, run, warehouse, databaseUrl, cwd } = await createInstallation({
  commandsInOneProcess: true,
});
const { exportNow } = await createTestLake(databaseUrl);
const s3 = await startS3Server();
let connection: string;
let lake: string;
let older: string;
let latest: string;
let lakes = 0;

beforeAll(async () => {
  connection = await connect();
});

beforeEach(async () => {
  await warehouse.pool.query('delete from sync.snapshots');
  lakes += 1;
  lake = join(cwd, `lake-${lakes}`);
  [older, latest] = await exportTwice(lake);
});

const alterations: readonly (readonly [string, (manifest: Described) => void])[] = [
  [
    'says that it is of another warehouse',
    (manifest) => {
      manifest.warehouse_id = 'the-other';
    },
  ],
  [
    'lists no files',
    (manifest) => {
      for (const table of [manifest.tables.bills, manifest.tables.bill_lines]) {
        manifest.rows -= table.rows;
        manifest.bytes -= table.bytes;
        const sums = Object.fromEntries(Object.keys(table.sums).map((name) => [name, '0']));
        Object.assign(table, { files: [], rows: 0, bytes: 0, sums });
      }
    },
  ],
];

test.each(some(alterations))(
  'an altered manifest that %s keeps an erasure unfinished until the original is restored',
  async (_, alter) => {
    const path = join(lake, 'snapshots', older, '_manifest.json');
    const before = await readFile(path, 'utf8');
    await writeFile(path, altered(before, alter));
    const { code, stdout } = await erase();
    expect(stdout).toContain(
      `snapshots/${older}/_manifest.json of the lake ${lake} is not what Daybook wrote`,
    );
    expect(stdout).toMatch(new RegExp(`snapshot ${latest}, now \\S+ +2 +0$`, 'm'));
    expect(stdout).not.toContain('Erased bills to-erase');
    expect(code).toBe(1);
    expect(
      await rows(warehouse, `select erased_from from sync.tombstones where record_id = 'to-erase'`),
    ).toEqual([{ erased_from: [] }]);

    await writeFile(path, before);
    const again = await erase();
    expect(again.stdout).toContain('Erased bills to-erase');
    expect(again.code, again.stderr).toBe(0);
    expect(await readdir(join(lake, 'snapshots'))).not.toContain(older);
  },
);

proofTest('altered manifests on object storage keep an erasure unfinished, too', async () => {
  const [first] = await exportTwice(s3.location);
  const object = { Bucket: s3.bucket, Key: `some/prefix/snapshots/${first}/_manifest.json` };
  const { Body } = await s3.client.send(new GetObjectCommand(object));
  const before = (await Body?.transformToString()) ?? '';
  for (const [, alter] of alterations) {
    await s3.client.send(new PutObjectCommand({ ...object, Body: altered(before, alter) }));
    const { code, stdout } = await erase({ ...s3.env, DAYBOOK_LAKE: s3.location });
    expect(stdout).toContain(
      `snapshots/${first}/_manifest.json of the lake ${s3.location} is not what Daybook`,
    );
    expect(code).toBe(1);
  }
});

test.each(
  some([
    ['is a plain copy that Postgres knows of', () => undefined],
    ...alterations,
    ['is a plain copy', () => undefined],
  ] as const),
)(
  "a snapshot planted under the ID that an erasure publishes, which %s, is not taken for the erasure's own",
  async (what, alter) => {
    const record = { connectionId: connection, resource: resourceNamed('bills'), id: 'to-erase' };
    const planted = idWithout(latest, buildRowsToErase(record, { warehouseId: '' }), {
      attempt: 0,
      place: lake,
    });
    await cp(join(lake, 'snapshots', latest), join(lake, 'snapshots', planted), { recursive: true });
    const path = join(lake, 'snapshots', planted, '_manifest.json');
    const named = (await readFile(path, 'utf8')).replace(`"${latest}"`, `"${planted}"`);
    const text = altered(named, alter);
    await writeFile(path, text);
    if (what.endsWith('knows of'))
      await warehouse.pool.query(
        `insert into sync.snapshots (snapshot_id, run_id, lake, taken_at, rows, bytes, unfit, mark, manifest_sha256)
         select $2, run_id, lake, taken_at, rows, bytes, unfit, mark, $3 from sync.snapshots where snapshot_id = $1`,
        [latest, planted, createHash('sha256').update(text).digest('hex')],
      );
    const { code, stdout, stderr } = await erase();
    const now = new RegExp(`snapshot ${latest}, now (\\S+) +2 +0$`, 'm').exec(stdout)?.[1] ?? '';
    expect(now).not.toBe(planted);
    expect([code, stderr]).toEqual([0, expect.anything()]);
    const { snapshot_id: shown } = JSON.parse(await readFile(join(lake, 'latest.json'), 'utf8')) as {
      snapshot_id: string;
    };
    const left = await readdir(join(lake, 'snapshots'));
    expect(left).toContain(now);
    expect(left).toContain(shown);
    expect(left).not.toContain(latest);
    for (const id of new Set([now, shown]))
      expect(JSON.parse(await readFile(join(lake, 'snapshots', id, '_manifest.json'), 'utf8'))).toMatchObject(
        { tables: { bills: { rows: 1 } } },
      );
    if (alter.length === 0) expect(left).not.toContain(planted);
    expect((await run(['snapshots', 'verify'], { env: { DAYBOOK_LAKE: lake } })).code).toBe(0);
  },
);

test('an obstacle at the path of the snapshot to publish does not keep any snapshot from being searched', async () => {
  const record = { connectionId: connection, resource: resourceNamed('bills'), id: 'to-erase' };
  const to = (id: string): string =>
    join(
      lake,
      'snapshots',
      idWithout(id, buildRowsToErase(record, { warehouseId: '' }), { attempt: 0, place: lake }),
    );
  for (const obstruct of some([
    (path: string) => writeFile(path, ''),
    (path: string) => mkdir(path),
    (path: string) => mkdir(join(path, 'any'), { recursive: true }),
    (path: string) => symlink(join(cwd, 'nowhere'), path),
    (path: string) => symlink(path, path),
  ])) {
    lakes += 1;
    lake = join(cwd, `lake-${lakes}`);
    await warehouse.pool.query('delete from sync.snapshots');
    [older, latest] = await exportTwice(lake);
    await obstruct(to(older));
    const { code, stdout, stderr } = await erase();
    for (const id of [older, latest])
      expect(stdout).toMatch(new RegExp(`snapshot ${id}, now \\S+ +2 +0$`, 'm'));
    expect([code, stderr]).toEqual([0, expect.anything()]);
  }
});

test('an erasure removes the marts on the lake if the latest snapshot was altered, and the record from all other snapshots', async () => {
  await warehouse.pool.query(
    `insert into sync.marts (target, run_id, as_of_date, marts, begun_at) values ('lake', 'built', '2026-01-01', 24, now())`,
  );
  const path = join(lake, 'snapshots', latest, '_manifest.json');
  await writeFile(path, altered(await readFile(path, 'utf8'), alterations[1]![1]));
  const { code, stdout, stderr } = await erase();
  await warehouse.pool.query('delete from sync.marts');
  expect(stderr).toContain('the marts on the lake are removed');
  expect(stdout).toMatch(new RegExp(`snapshot ${older}, now \\S+ +2 +0$`, 'm'));
  expect(stdout).toContain(`snapshots/${latest}/_manifest.json of the lake`);
  expect(code).toBe(1);
});

test('a snapshot is searched even if Postgres does not know it or its hash, or if an erasure wrote it', async () => {
  await land(warehouse, {
    connectionId: connection,
    stream: 'bills',
    pages: [[bill('second', { memo: '"planted"' })]],
  });
  const { snapshotId } = await exportNow({ lake, force: true });
  await warehouse.pool.query(`update sync.snapshots set manifest_sha256 = '' where snapshot_id = $1`, [
    older,
  ]);
  await warehouse.pool.query('delete from sync.snapshots where snapshot_id = $1', [latest]);
  const first = await erase();
  for (const id of [older, latest, snapshotId])
    expect(first.stdout).toMatch(new RegExp(`snapshot ${id}, now \\S+ +2 +0$`, 'm'));
  expect([first.code, first.stderr]).toEqual([0, expect.anything()]);
  const second = await run(['erase', connection, 'bills', 'second'], { env: { DAYBOOK_LAKE: lake } });
  expect(second.stdout).toMatch(/snapshot \S+, now \S+ +2 +0$/m);
  expect([second.code, second.stderr]).toEqual([0, expect.anything()]);
});

test.each(
  some([
    ['archived', '/bills/'],
    ['archived', '/_manifest.json'],
    ['encrypted', '/'],
  ] as const),
)(
  'an %s object of a snapshot (%s) that storage lists but cannot read blocks neither erasure elsewhere nor exports',
  async (how, path) => {
    lakes += 1;
    lake = `${s3.location}/${lakes}`;
    await warehouse.pool.query('delete from sync.snapshots');
    [older, latest] = await exportTwice(lake);
    const part = `/snapshots/${older}${path}`;
    const proxy = await startUnreadableProxy(s3.env.AWS_ENDPOINT_URL ?? '', unreadable[how], part);
    const env = { ...s3.env, AWS_ENDPOINT_URL: proxy.address, DAYBOOK_LAKE: lake };
    expect(await proxy.use(() => exportNow({ lake, force: true }))).not.toHaveProperty('removalProblem');
    expect((await run(['snapshots', 'list'], { env })).stdout).toContain(latest);
    const { code, stdout } = await erase(env);
    expect(stdout).toMatch(new RegExp(`${older}.* may not be read`));
    expect(stdout).toMatch(new RegExp(`snapshot ${latest}, now \\S+ +2 +0$`, 'm'));
    expect(code).toBe(1);
  },
);

test('a snapshot with a column named "Out of Memory" does not keep the record in other snapshots', async () => {
  const planted = await plantBills(`select 'x' as "connection_id Out of Memory", 'b' as id`);
  await expectOthersErased(planted);
});

test('a planted snapshot whose sums overflow every type does not keep the record in other snapshots', async () => {
  const selectRows = (ids: string): string =>
    `select '${connection}' as connection_id, unnest([${ids}]) as id, '${'9'.repeat(38)}'::decimal(38, 0) as total`;
  const planted = await plantBills(selectRows(`'to-erase', 'b', 'c'`));
  await expectOthersErased(planted);
});

test('a file at the path of the marts on the lake does not keep old snapshots there', async () => {
  await writeFile(join(lake, 'marts'), '');
  const { code, stdout, stderr } = await erase();
  expect(stdout, stderr).toContain('marts is a file');
  const left = await readdir(join(lake, 'snapshots'));
  expect(left).not.toContain(older);
  expect(left).not.toContain(latest);
  expect(code).toBe(1);
});

/** Plants a consistent snapshot whose bills are these rows; the others in the lake are published anew. Returns its ID. */
async function plantBills(select: string): Promise<string> {
  lakes += 1;
  lake = join(cwd, `lake-${lakes}`);
  await warehouse.pool.query('delete from sync.snapshots');
  [older, latest] = await exportTwice(lake);
  const planted = `${latest.slice(0, -6)}abcdef`;
  const folder = join(lake, 'snapshots', planted);
  await cp(join(lake, 'snapshots', latest), folder, { recursive: true });
  const path = join(folder, 'bills', 'part-00000.parquet');
  await rm(path);
  const duckDb = await DuckDBInstance.create(':memory:');
  const session = await duckDb.connect();
  await session.run(`copy (${select}) to '${path}' (format parquet, compression zstd)`);
  const [[count]] = (await session.runAndReadAll(`select count(*) from '${path}'`)).getRows() as [[bigint]];
  session.closeSync();
  duckDb.closeSync();
  const content = await readFile(path);
  const manifest = join(folder, '_manifest.json');
  const text = (await readFile(manifest, 'utf8')).replace(`"${latest}"`, `"${planted}"`);
  const described = JSON.parse(text) as Described;
  const { bills } = described.tables;
  const [rowCount, bytes] = [Number(count), content.length];
  described.rows += rowCount - bills.rows;
  const sha256 = createHash('sha256').update(content).digest('hex');
  Object.assign(bills, {
    rows: rowCount,
    bytes,
    sums: {},
    files: [{ path: 'bills/part-00000.parquet', rows: rowCount, bytes, sha256, sums: {} }],
  });
  await writeFile(manifest, JSON.stringify(described));
  return planted;
}

interface Described {
  warehouse_id: string;
  rows: number;
  bytes: number;
  tables: Record<'bills' | 'bill_lines', { rows: number; bytes: number; sums: Record<string, string> }>;
}

/** Alters a manifest, as anyone who can write in the lake can. */
function altered(text: string, alter: (manifest: Described) => void): string {
  const manifest = JSON.parse(text) as Described;
  alter(manifest);
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** The source has never had the record, so it may be erased. */
async function exportTwice(to: string): Promise<[string, string]> {
  const ids: string[] = [];
  for (const memo of ['once', 'twice']) {
    exports += 1;
    const changes = {
      memo: `"${memo}"`,
      last_synced_at: `"2030-01-01T00:00:${String(exports).padStart(2, '0')}Z"`,
    };
    const page = [bill('to-erase', changes), bill('stays')];
    await land(warehouse, { connectionId: connection, stream: 'bills', pages: [page] });
    ids.push((await exportNow({ lake: to, force: true })).snapshotId);
  }
  return [ids[0] ?? '', ids[1] ?? ''];
}

let exports = 0;

function erase(env: Readonly<Record<string, string>> = {}): ReturnType<typeof run> {
  return run(['erase', connection, 'bills', 'to-erase'], { env: { DAYBOOK_LAKE: lake, ...env } });
}

/** Expects that the answer names the planted snapshot, and that no other holds the record. */
async function expectOthersErased(planted: string): Promise<void> {
  const { code, stdout } = await erase();
  expect(stdout).toContain(`bills/part-00000.parquet of snapshot ${planted}`);
  for (const id of [older, latest])
    expect(stdout).toMatch(new RegExp(`snapshot ${id}, now \\S+ +2 +0$`, 'm'));
  expect(code).toBe(1);
}
