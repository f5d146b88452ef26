import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { PartSizes } from '../../activities/export/plan-parts.ts';
import { openLake } from '../../lake/open-lake.ts';
import { readManifest } from '../../lake/manifest/pointer.ts';
import { verifySnapshot } from '../../lake/snapshots/verify-snapshot.ts';
import { cacheFolder } from '../support/cache-folder.ts';
import { bill, billLine, list, text } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake } from './create-test-lake.ts';
import { manifestSeen, readIceberg } from './read-iceberg.ts';
import { readParquet } from './read-parquet.ts';
import { startS3Server } from './s3-server.ts';

const { warehouse, url } = await createTestDatabase();
const s3 = await startS3Server();
const iceberg = { add: true, cacheFolder };
/** Small sizes, so that some parts are shared, some belong to one connection, and some to a piece of one. */
const sizes: PartSizes = { rowsAlone: 20, rowsOfPiece: 20, rowsShared: 3, connectionsShared: 2 };
const keep = { last: 24, daily: 0, monthEnds: false };
const tables = ['bills', 'bill_lines'] as const;
const seed = Date.now() % 1_000_000;
let random = seed;
let version = 0;

test.each(['a folder', 'a bucket'])(
  'every snapshot of a day of hourly exports to %s is whole; in a folder, it equals the tables at that time',
  async (where) => {
    const lakeOf = where === 'a bucket' ? { lake: `${s3.location}/day` } : {};
    const { exportNow, location, scratch } = await createTestLake(url, { sizes, keep, ...lakeOf });
    const lake = await openLake({ location, scratch: `${scratch}-of-reader` });
    const connections = await openCompanies(where);
    const then = new Map<string, Record<string, unknown>>();
    for (let hour = 0; hour < 24; hour += 1) {
      for (let count = 0; count < upTo(4); count += 1) await change(connections);
      const tried = exportNow({ force: chance(0.05), ...(hour % 6 === 5 ? { iceberg } : {}) });
      const { snapshotId } = await tried;
      // Nobody writes meanwhile, so these rows are of the same moment.
      if (!then.has(snapshotId)) then.set(snapshotId, await seenIn(warehouseRows));
    }
    const kept = await lake.snapshotIds();
    expect(kept, `seed ${seed}`).toEqual([...then.keys()]);
    let reused = 0;
    for (const [id, expected] of then) {
      const { problems } = await verifySnapshot(lake, { id, spillFolder: scratch });
      expect(problems, `${id}, seed ${seed}`).toEqual([]);
      if (where === 'a folder') {
        const found = await seenIn((sql) => readParquet(join(location, 'snapshots', id), parquetOf(sql)));
        expect(found, `${id}, seed ${seed}`).toEqual(expected);
      }
      const files = Object.values((await readManifest(lake, id))!.tables).flatMap((one) => one.files);
      reused += files.filter(({ since }) => since !== id).length;
    }
    expect(reused).toBeGreaterThan(100);
    const { snapshotId } = await exportNow({ iceberg });
    const seen = await readIceberg(url, { reader: 'pyiceberg' });
    expect(Object.keys(seen).sort()).toEqual(await lake.snapshotIds());
    for (const [id, found] of Object.entries(seen))
      expect(found).toMatchObject(manifestSeen((await readManifest(lake, id))!));
    expect(seen[snapshotId]).toBeDefined();
  },
);

async function openCompanies(where: string): Promise<string[]> {
  const opened: string[] = [];
  for (const [name, count] of [
    ...Array.from({ length: 12 }, (_, index) => [`small-${index}`, 3] as const),
    ['middle', 40] as const,
    ['large', 400] as const,
  ]) {
    const connectionId = await addTestConnection(warehouse, `${where.replace(' ', '-')}-${name}`);
    await landBills(connectionId, 1, count);
    opened.push(connectionId);
  }
  return opened;
}

/** The possible changes of an hour: new and edited bills, bills with other lines, deletions, edited rows, and a large growth. */
async function change(connections: readonly string[]): Promise<void> {
  const connectionId = connections[upTo(connections.length)] ?? '';
  const at = 1 + upTo(60);
  const what = upTo(8);
  if (what < 3) await landBills(connectionId, at, at + upTo(6));
  else if (what === 3) await landBills(connectionId, at, at + 150 * upTo(3));
  else if (what === 4)
    for (const [table, key] of [
      ['bills', 'id'],
      ['bill_lines', 'bill_id'],
    ] as const)
      await rows(warehouse, `delete from finance.${table} where connection_id = $1 and ${key} = $2`, [
        connectionId,
        `b${at}`,
      ]);
  else if (what === 5)
    await rows(
      warehouse,
      `update finance.bill_lines set total_amount = total_amount + 0.01 where connection_id = $1 and bill_id = $2`,
      [connectionId, `b${at}`],
    );
  else if (what === 6) await land(warehouse, { connectionId, stream: 'customers', pages: [[]] });
}

async function landBills(connectionId: string, from: number, to: number): Promise<void> {
  version += 1;
  const records = Array.from({ length: to - from + 1 }, (_, index) =>
    bill(`b${from + index}`, {
      total_amount: `${upTo(1_000_000)}.${upTo(1_000_000)}`,
      memo: text(`edit ${version}`),
      line_items: list(...Array.from({ length: 1 + upTo(3) }, () => billLine({}))),
      last_synced_at: `"2024-02-01T00:00:${String(Math.floor(version / 1_000) % 60).padStart(2, '0')}.${String(version % 1_000).padStart(3, '0')}Z"`,
    }),
  );
  await land(warehouse, { connectionId, stream: 'bills', pages: [records] });
}

/** Rows and sums of each table, by connection. */
async function seenIn(
  ask: (sql: string) => Promise<readonly Record<string, unknown>[]>,
): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const table of tables) found[table] = await ask(table);
  return found;
}

function warehouseRows(table: string): Promise<Record<string, unknown>[]> {
  return rows(warehouse, `select ${figures} from finance.${table} group by 1 order by 1`);
}

function parquetOf(table: string): string {
  return `select ${figures} from read_parquet('{lake}/${table}/*.parquet') group by 1 order by 1`;
}

const figures = `connection_id, count(*)::text as n, sum(total_amount)::numeric(38, 9)::text as total`;

function upTo(limit: number): number {
  // Park and Miller's generator, so that a seed repeats a day.
  random = (random * 48_271) % 2_147_483_647;
  return random % limit;
}

function chance(share: number): boolean {
  return upTo(1_000) < share * 1_000;
}
