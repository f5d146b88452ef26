import { mkdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { showMarts } from '../../iceberg/show-snapshots.ts';
import type { ProgramPlaces } from '../../iceberg/tables-program.ts';
import { openDuckDb } from '../../lake/parquet/duck-db.ts';
import type { Lake } from '../../lake/lake.ts';
import { sha256OfFile } from '../../lake/parquet/read-back.ts';

/** Puts the result of `query` into the lake and its Iceberg tables, as the mart `totals` of a snapshot, as a build does. */
export async function showMart(
  lake: Lake,
  places: ProgramPlaces,
  { id, query }: { id: string; query: string },
): Promise<void> {
  const path = `marts/${id}/totals/part-00000.parquet`;
  const local = join(places.scratch, path);
  await mkdir(dirname(local), { recursive: true });
  const duckDb = await openDuckDb({ spillFolder: places.scratch });
  try {
    await (await duckDb.connect()).run(`copy (${query}) to '${local}' (format parquet)`);
  } finally {
    duckDb.close();
  }
  const { size: bytes } = await stat(local);
  const file = { path, rows: 1, sha256: await sha256OfFile(local), bytes, isNew: true };
  await lake.putFile(path, local);
  const marts = { id, takenAt: '2026-11-21T12:00:00.000001Z', tables: { totals: [file] } };
  await showMarts(lake, places, { add: true, marts });
}
