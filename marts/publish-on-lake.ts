import { mkdir, stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import * as z from 'zod';
import { byName } from '../lake/manifest/checked-members.ts';
import { countNumber, dayText, sha256Text, snapshotIdText } from '../lake/manifest/checked-texts.ts';
import { openDuckDb, named, quoted, type DuckDb } from '../lake/parquet/duck-db.ts';
import type { Found, Lake } from '../lake/lake.ts';
import { mapConcurrently } from '../lake/map-concurrently.ts';
import { keepsReaders, neverTheSame } from '../lake/manifest/pointer.ts';
import { sha256OfFile } from '../lake/parquet/read-back.ts';
import { readChecked } from '../lake/manifest/read-checked.ts';
import { parquetOptions } from '../lake/parquet/write-table.ts';

/** `latest-marts.json`, which names the marts for readers. Paths are relative to the lake. */
export type MartsPointer = Readonly<z.infer<typeof pointerSchema>>;

type MartFile = Readonly<z.infer<typeof fileSchema>>;

const fileSchema = z.object({
  path: z.string(),
  rows: countNumber,
  bytes: countNumber,
  sha256: sha256Text,
});

const pointerSchema = z
  .object({ snapshot_id: snapshotIdText, as_of_date: dayText, marts: byName(fileSchema) })
  .refine(
    ({ snapshot_id: id, marts }) =>
      Object.entries(marts).every(([mart, { path }]) =>
        possiblePaths({ snapshotId: id, mart }).includes(path),
      ),
    { path: ['marts'] },
  );

export const martsPointerPath = 'latest-marts.json';

/**
 * Writes every mart of a finished DuckDB database as Parquet, puts each into the lake atomically, and makes `latest-marts.json` name them,
 * unless it names marts of newer rows. No file that it names is overwritten: if the same snapshot was built before, each mart alternates
 * between two paths. A build that loses the lock adds nothing more, and replaces nothing that others have published since. Returns the names
 * of the marts; undefined if readers stay with newer rows.
 */
export async function publishOnLake(
  lake: Lake,
  built: {
    database: string;
    snapshotId: string;
    takenAt: string;
    asOfDate: string;
    scratch: string;
  },
): Promise<string[] | undefined> {
  const written = await writeParquet(built);
  // Read before the lock is checked: the next holder of the lock replaces this version, which a writer without the lock then cannot replace.
  const before = await readMartsPointer(lake);
  const { pointer: shown } = before;
  const marts: Record<string, MartFile> = {};
  for (const { mart, localPath, file } of written) {
    const to = { snapshotId: built.snapshotId, mart, file, shown: shown?.marts[mart] };
    const { path, isKept } = await choosePlace(lake, to);
    marts[mart] = { path, ...file };
    if (isKept) continue;
    await lake.assertHeld();
    await lake.putFile(path, localPath);
  }
  const pointer = { snapshot_id: built.snapshotId, as_of_date: built.asOfDate, marts };
  const isShown = await movePointer(lake, { before, pointer, takenAt: built.takenAt });
  if (!isShown) return undefined;
  // Readers that read all files of a folder would count rows twice. Leftovers of a killed build are removed too. Without the lock they may be
  // what the next build shows.
  await lake.assertHeld();
  await Promise.all(Object.values(marts).map(({ path }) => lake.removeFile(otherPlace(path))));
  return Object.keys(marts);
}

interface Written {
  readonly mart: string;
  readonly localPath: string;
  readonly file: Omit<MartFile, 'path'>;
}

const places = ['part-00000.parquet', 'part-00001.parquet'] as const;

interface MartToPlace {
  readonly snapshotId: string;
  readonly mart: string;
  readonly file: Written['file'];
  readonly shown: MartFile | undefined;
}

/** Returns the path of a mart, and whether that very file exists. No file that readers use is overwritten, even if it is damaged. */
async function choosePlace(lake: Lake, to: MartToPlace): Promise<{ path: string; isKept: boolean }> {
  const path = choosePath(to);
  if (path !== to.shown?.path) return { path, isKept: false };
  if (await isWhole(lake, { path, ...to.file })) return { path, isKept: true };
  return { path: otherPlace(path), isKept: false };
}

/** Returns the current path if the file is the same, otherwise the alternate one. */
function choosePath(to: MartToPlace): string {
  const [first] = possiblePaths(to);
  const isShown = to.shown?.path === first || to.shown?.path === otherPlace(first);
  if (to.shown === undefined || !isShown) return first;
  return to.shown.sha256 === to.file.sha256 ? to.shown.path : otherPlace(to.shown.path);
}

async function isWhole(lake: Lake, { path, bytes, sha256 }: MartFile): Promise<boolean> {
  const used = await lake.withFile({ path, bytes }, (local) => sha256OfFile(local, bytes));
  return used.problem === undefined && used.result === sha256;
}

function possiblePaths({ snapshotId, mart }: { snapshotId: string; mart: string }): [string, string] {
  const folder = `marts/${snapshotId}/${mart}`;
  return [`${folder}/${places[0]}`, `${folder}/${places[1]}`];
}

function otherPlace(path: string): string {
  const [first, second] = places;
  return path.endsWith(first) ? path.replace(first, second) : path.replace(second, first);
}

/**
 * Writes several concurrently, the largest first: each DuckDB has one thread and 700 MB, and sorting and compressing the marts of a million
 * bills takes one DuckDB a third of a build.
 */
async function writeParquet(built: Built): Promise<Written[]> {
  await mkdir(built.scratch, { recursive: true });
  const duckDbs: DuckDb[] = [];
  try {
    for (let index = 0; index < Math.min(mostAtOnce, availableParallelism()); index += 1)
      duckDbs.push(await openDuckDb({ spillFolder: join(built.scratch, `spill-${index}`) }));
    const free = await Promise.all(duckDbs.map((duckDb) => attached(duckDb, built)));
    const written = await mapConcurrently(free.length, await listBuiltMarts(free[0]), async (mart) => {
      const connection = free.pop();
      if (connection === undefined)
        throw new Error('More marts are written at once than there are connections.');
      try {
        return await writeMart(connection, built, mart);
      } finally {
        free.push(connection);
      }
    });
    return written.sort((one, other) => (one.mart < other.mart ? -1 : 1));
  } finally {
    for (const duckDb of duckDbs) duckDb.close();
  }
}

const mostAtOnce = 2;

type Built = Readonly<{ database: string; snapshotId: string; scratch: string }>;

interface Mart {
  readonly name: string;
  /** An expression for the number of bytes of a row's texts. */
  readonly width: string;
}

async function attached(duckDb: DuckDb, { database }: Built): Promise<DuckDBConnection> {
  const connection = await duckDb.connect();
  await connection.run(`attach ${quoted(database)} as built (read_only)`);
  return connection;
}

async function listBuiltMarts(connection: DuckDBConnection | undefined): Promise<Mart[]> {
  const tables = await connection?.runAndReadAll(
    `select columns.table_name, ${bytesOfTexts}
     from duckdb_columns() columns
     join duckdb_tables() tables using (database_name, schema_name, table_name)
     where database_name = 'built' and schema_name = 'marts'
     group by columns.table_name order by max(tables.estimated_size * tables.column_count) desc`,
  );
  return (tables?.getRows() ?? []).map(([name, width]) => ({ name: String(name), width: String(width) }));
}

async function writeMart(
  connection: DuckDBConnection,
  { scratch }: Built,
  { name: mart, width }: Mart,
): Promise<Written> {
  const localPath = localFile(scratch, mart);
  const rows = inOrder(`built.marts.${named(mart)}`, width);
  const copied = await connection.runAndReadAll(`copy (${rows}) to ${quoted(localPath)} (${parquetOptions})`);
  const file = {
    rows: Number(copied.getRows()[0]?.[0] ?? 0),
    bytes: (await stat(localPath)).size,
    sha256: await sha256OfFile(localPath),
  };
  return { mart, localPath, file };
}

/** The file of a mart before it is put into the lake. */
export function localFile(scratch: string, mart: string): string {
  return join(scratch, `${mart}.parquet`);
}

/** For each table, an expression for the number of bytes of a row's texts. */
const bytesOfTexts = `'0' || coalesce(
  string_agg(' + coalesce(strlen("' || column_name || '"), 0)', '') filter (where data_type = 'VARCHAR'), ''
)`;

/** Bytes of texts in a row. DuckDB sorts 300,000 rows of 4,000, and runs out of memory with 6,000 of 48,000, however much it may spill. */
const widestSorted = 2_000;

/** Selects rows in a fixed order, so that the same rows give the same file; only the widest follow unsorted. */
function inOrder(mart: string, width: string): string {
  return `select * from (select * from ${mart} where ${width} <= ${widestSorted} order by all)
    union all select * from ${mart} where ${width} > ${widestSorted}`;
}

/** Never moves back to older rows. Returns whether it names these marts now. */
async function movePointer(
  lake: Lake,
  {
    before: { found, pointer: shown },
    pointer,
    takenAt,
  }: { before: PointerRead; pointer: MartsPointer; takenAt: string },
): Promise<boolean> {
  const built = { snapshot_id: pointer.snapshot_id, taken_at: takenAt };
  if (shown !== undefined && (await keepsReaders(lake, shown.snapshot_id, built))) return false;
  const text = `${JSON.stringify(pointer, null, 2)}\n`;
  await lake.assertHeld();
  if (await lake.replace(martsPointerPath, text, found)) return true;
  // Storage may have replaced it, and answered that it has not.
  if ((await lake.read(martsPointerPath))?.text === text) return true;
  await lake.assertHeld();
  throw neverTheSame(lake, martsPointerPath);
}

interface PointerRead {
  readonly found: Found | undefined;
  readonly pointer: MartsPointer | undefined;
}

/** Reads which marts readers use. Throws LakeAltered. */
export async function readMartsPointer(lake: Lake): Promise<PointerRead> {
  const { found, value } = (await readChecked(lake, martsPointerPath, pointerSchema)) ?? {};
  return { found, pointer: value };
}
