import { openDuckDb, type DuckDb } from '../../lake/parquet/duck-db.ts';
import type { Lake } from '../../lake/lake.ts';
import { countUnfit, type Manifest, type Unfit } from '../../lake/manifest/manifest.ts';
import { parquetRows } from '../../lake/parquet/parquet-rows.ts';
import { withSnapshotFile } from '../../lake/snapshots/with-snapshot-file.ts';
import type { RoomForUnfit } from '../../warehouse/snapshots/list-unfit.ts';
import { recordKeyOf } from '../../warehouse/snapshots/unfit-table.ts';
import { grouped } from './grouped.ts';
import type { PartFilled } from './keep-parts.ts';
import type { PartPlanned, TablePlanned } from './plan-parts.ts';
import type { UnfitPlanned } from './unfit-parts.ts';

/**
 * Returns the unfit values of reused parts: from the manifest of their snapshot, or, if it does not list all of them, from their files, as
 * far as there is room.
 */
export async function listKept(
  lake: Lake,
  input: {
    base: Manifest;
    kept: readonly PartFilled[];
    planned: readonly TablePlanned[];
    unfit: UnfitPlanned;
    spillFolder: string;
    room: Readonly<RoomForUnfit>;
  },
): Promise<Unfit[]> {
  const { base, kept, planned, unfit, spillFolder, room } = input;
  const isKept = new Set(kept.map(({ part }) => part));
  const count = countUnfit(base);
  if (count === 0) return [];
  const isListed = (one: TablePlanned): boolean =>
    !isPartlyKept(one, isKept) && !hasBecomeWhole(one, { base, isKept });
  if (count === base.unfit.length && planned.every(isListed))
    return planned.flatMap((one) => listedBefore(one, { base, isKept }));
  const listings = new Set(unfit.parts);
  const byContent = new Map(
    Object.values(base.tables)
      .flatMap(({ files }) => files)
      .map((file) => [file.sha256, file]),
  );
  const keys = new Map(planned.map(({ table }) => [table.name, table.key]));
  const found: Unfit[] = [];
  const duckDb = await openDuckDb({ spillFolder });
  try {
    const files = kept.filter(({ part }) => listings.has(part)).flatMap((one) => one.files);
    for (const { sha256 } of files) {
      const file = byContent.get(sha256);
      if (file === undefined || found.length >= room.values) continue;
      const use = (path: string): Promise<Unfit[]> => read(duckDb, { path, keys, room });
      found.push(...(await withSnapshotFile(lake, duckDb, { id: base.snapshot_id, file, use })));
    }
  } finally {
    duckDb.close();
  }
  return found;
}

/** Whether some pieces of a kept connection are written anew, or gone. Only files tell which values belong to which piece. */
function isPartlyKept({ parts }: TablePlanned, isKept: ReadonlySet<PartPlanned>): boolean {
  const pieces = parts.filter(({ piece }) => piece !== undefined);
  const kept = new Set(pieces.filter((part) => isKept.has(part)).map(({ connections }) => connections?.[0]));
  const isKeptIn = (part: PartPlanned): boolean => kept.has(part.connections?.[0]);
  return pieces.some((part) => !isKept.has(part) && isKeptIn(part)) || lackPieces(pieces.filter(isKeptIn));
}

/** Whether the only part that is left of a table was one of several: the others' values, of connections that are gone, are not its own. */
function hasBecomeWhole(
  { table, parts }: TablePlanned,
  { base, isKept }: { base: Manifest; isKept: ReadonlySet<PartPlanned> },
): boolean {
  const isWhole = parts.some((part) => part.connections === undefined && isKept.has(part));
  return isWhole && base.tables[table.name]?.groups !== undefined;
}

/** Whether some pieces are not planned: pieces without rows, which may have had rows before. */
function lackPieces(pieces: readonly PartPlanned[]): boolean {
  const planned = grouped(pieces, ({ connections }) => connections?.[0]);
  return [...planned.values()].some((of) => of.length < (of[0]?.piece?.of ?? 0));
}

function listedBefore(
  { table, parts }: TablePlanned,
  { base, isKept }: { base: Manifest; isKept: ReadonlySet<PartPlanned> },
): Unfit[] {
  const kept = parts.filter((part) => isKept.has(part));
  const connections = new Set(kept.flatMap((part) => part.connections ?? []));
  const isWhole = kept.some((part) => part.connections === undefined);
  return base.unfit.filter(
    (one) => one.table === table.name && (isWhole || connections.has(String(one.key.connection_id))),
  );
}

/** Returns fewer values than the limit if they are long: the files already bound their bytes. */
async function read(
  duckDb: DuckDb,
  {
    path,
    keys,
    room,
  }: { path: string; keys: ReadonlyMap<string, readonly string[]>; room: Readonly<RoomForUnfit> },
): Promise<Unfit[]> {
  const connection = await duckDb.connect();
  try {
    const answer = await connection.runAndReadAll(
      // The client drops a byte order mark at the start of a text, but in an ID it is significant.
      `select table_name, column_name, connection_id, '.' || record_id, position::varchar,
         strftime(recorded_at at time zone 'UTC', '%Y-%m-%dT%H:%M:%S.%f+00:00'), value, is_rounded
       from (
         select *, row_number() over () as place, sum(strlen(value)) over (rows unbounded preceding) as bytes
         from ${parquetRows([path])}
       ) where place <= ${room.values} and bytes <= ${room.bytes} order by place`,
    );
    return answer
      .getRows()
      .map(([table, column, connectionId, record, position, recordedAt, value, rounded]) => {
        const key = keys.get(String(table)) ?? [];
        const name = recordKeyOf(key);
        return {
          table: String(table),
          column: String(column),
          key: {
            ...(connectionId === null ? {} : { connection_id: String(connectionId) }),
            ...(name === undefined || record === null ? {} : { [name]: String(record).slice(1) }),
            ...(position === null ? {} : { position: Number(position) }),
            ...(recordedAt === null ? {} : { recorded_at: String(recordedAt) }),
          },
          value: String(value),
          rounded: rounded === true,
        };
      });
  } finally {
    connection.closeSync();
  }
}
