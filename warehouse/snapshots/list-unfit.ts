import type { ClientBase } from 'pg';
import { heldValue } from './held-value.ts';
import { named, type SnapshotTable } from './snapshot-table.ts';

/** A value that its Parquet type cannot hold to the last digit, as Postgres writes it. */
export interface UnfitValue {
  table: string;
  column: string;
  key: Record<string, string | number>;
  value: string;
  /** Whether the file holds it with fewer decimals; otherwise it is null there. */
  rounded: boolean;
}

/** The room that is left in a manifest. */
export interface RoomForUnfit {
  values: number;
  bytes: number;
}

/** Takes the first values that there is room for. */
export function takeWithin<Value extends { readonly value: string }>(
  room: RoomForUnfit,
  values: readonly Value[],
): Value[] {
  const taken: Value[] = [];
  for (const one of values) {
    const bytes = Buffer.byteLength(one.value);
    if (room.values < 1 || room.bytes < bytes) break;
    room.values -= 1;
    room.bytes -= bytes;
    taken.push(one);
  }
  return taken;
}

/** Lists the unfit values of some columns of a table, in the order of columns and rows, as far as there is room for them. */
export async function listUnfit(
  client: ClientBase,
  {
    table,
    unfitColumns,
    room,
  }: { table: SnapshotTable; unfitColumns: readonly string[]; room: RoomForUnfit },
): Promise<UnfitValue[]> {
  const { from, key } = table;
  const found: UnfitValue[] = [];
  for (const column of table.columns.filter(({ name }) => unfitColumns.includes(name))) {
    const held = heldValue(column);
    if (held === undefined) continue;
    if (room.values < 1) break;
    // Values beyond the limit never leave the database: one may have 130,000 digits.
    const { rows } = await client.query<Pick<UnfitValue, 'key' | 'value' | 'rounded'>>(
      `select key, value, rounded from (
         select
           json_build_object(${key.map((name) => `'${name}', ${named(name)}`).join(', ')}) as key,
           ${named(column.name)}::text as value,
           ${held.isHeld} as rounded,
           row_number() over sorted as place,
           sum(octet_length(${named(column.name)}::text)) over sorted as bytes
         from ${from}
         where not ${held.isExact}
         window sorted as (order by ${key.map(named).join(', ')} rows unbounded preceding)
       ) as listed
       where place <= $1 and bytes <= $2
       order by place`,
      [room.values, room.bytes],
    );
    for (const row of takeWithin(room, rows)) found.push({ table: table.name, column: column.name, ...row });
  }
  return found;
}
