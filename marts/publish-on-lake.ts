import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { openDuckDb, named, quoted } from '../lake/duck-db.ts';
import type { Lake } from '../lake/lake.ts';

/** `latest-marts.json`: which marts readers are to take. Paths are relative to the lake. */
export interface MartsPointer {
  readonly snapshot_id: string;
  readonly as_of_date: string;
  readonly marts: Readonly<Record<string, MartFile>>;
}

interface MartFile {
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
}

export const martsPointerPath = 'latest-marts.json';

/**
 * Writes every mart of a finished DuckDB database as Parquet, puts them into the lake, each in one step, and lets
 * `latest-marts.json` name them; never older marts over those of a newer snapshot. Returns the names of the marts.
 */
export async function publishOnLake(
  lake: Lake,
  built: { database: string; snapshotId: string; asOfDate: string; scratch: string },
): Promise<string[]> {
  const written = await writeParquet(built);
  for (const { localPath, file } of written) await lake.putFile(file.path, localPath);
  await movePointer(lake, {
    snapshot_id: built.snapshotId,
    as_of_date: built.asOfDate,
    marts: Object.fromEntries(written.map(({ mart, file }) => [mart, file])),
  });
  return written.map(({ mart }) => mart);
}

interface Written {
  readonly mart: string;
  readonly localPath: string;
  readonly file: MartFile;
}

async function writeParquet(built: {
  database: string;
  snapshotId: string;
  scratch: string;
}): Promise<Written[]> {
  await mkdir(built.scratch, { recursive: true });
  const duckDb = await openDuckDb({ spillFolder: built.scratch });
  try {
    const connection = await duckDb.connect();
    await connection.run(`attach ${quoted(built.database)} as built (read_only)`);
    const tables = await connection.runAndReadAll(
      `select table_name from duckdb_tables() where database_name = 'built' and schema_name = 'marts' order by 1`,
    );
    const written: Written[] = [];
    for (const [name] of tables.getRows()) {
      const mart = String(name);
      const localPath = join(built.scratch, `${mart}.parquet`);
      const copied = await connection.runAndReadAll(
        `copy built.marts.${named(mart)} to ${quoted(localPath)} (format parquet, compression zstd)`,
      );
      written.push({
        mart,
        localPath,
        file: {
          path: `marts/${built.snapshotId}/${mart}/part-00000.parquet`,
          rows: Number(copied.getRows()[0]?.[0] ?? 0),
          bytes: (await stat(localPath)).size,
          sha256: await sha256Of(localPath),
        },
      });
    }
    return written;
  } finally {
    duckDb.close();
  }
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** Never back to an older snapshot: IDs begin with their time. Another host may move it at the same moment; then it is looked at again. */
async function movePointer(lake: Lake, pointer: MartsPointer): Promise<void> {
  for (;;) {
    const found = await lake.read(martsPointerPath);
    const shown = found === undefined ? '' : (JSON.parse(found.text) as MartsPointer).snapshot_id;
    if (shown > pointer.snapshot_id) return;
    if (await lake.replace(martsPointerPath, `${JSON.stringify(pointer, null, 2)}\n`, found)) return;
  }
}
