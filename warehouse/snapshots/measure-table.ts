import type { ClientBase } from 'pg';
import { firstTooLate, heldValue, isTime, type HeldValue } from './held-value.ts';
import { named, type SnapshotColumn, type SnapshotTable } from './snapshot-table.ts';

/** Facts about a table in the snapshot, which a file must match. */
export interface TableMeasured {
  readonly rows: number;
  /** Sum of every decimal column as its file holds it, as text. */
  readonly sums: Readonly<Record<string, string>>;
  /** Columns with values that do not fit their Parquet type to the last digit. */
  readonly unfitColumns: readonly string[];
}

/**
 * Measures a table in one pass. Checking whether each number fits takes three times as long as summing it up, so only columns are checked whose sum
 * has more decimals than their type: a sum has as many as the longest of its values. A number with too many digits before the point is found later,
 * when it is written: then `lookCloser` finds it. For times the latest one tells, because DuckDB holds years that no other reader can; a time that is
 * too early is found later too.
 */
export async function measureTable(client: ClientBase, table: SnapshotTable): Promise<TableMeasured> {
  const { from, columns } = table;
  const decimals = columns.filter(isDecimal);
  const times = columns.filter(isTime);
  const figures = [
    'count(*)',
    ...decimals.map(({ name }) => `coalesce(sum(${named(name)}), 0)::text`),
    ...times.map(({ name }) => `(max(${named(name)}) >= ${firstTooLate})::int::text`),
  ];
  const [count, ...seen] = await readFigures(client, `select ${figures.join(', ')} from ${from}`);
  const sums = seen.slice(0, decimals.length);
  const late = times.filter((_, index) => seen[decimals.length + index] === '1');
  const measured: TableMeasured = {
    rows: Number(count),
    sums: Object.fromEntries(decimals.map(({ name }, index) => [name, sums[index] ?? '0'])),
    unfitColumns: [],
  };
  const long = decimals.filter(
    ({ name, scale }) => !new RegExp(`^-?\\d+(\\.\\d{1,${scale}})?$`).test(measured.sums[name] ?? ''),
  );
  const suspects = [...long, ...late];
  return suspects.length === 0 ? measured : lookCloser(client, { table, columns: suspects, measured });
}

/** Checks every value of these columns against its Parquet type. */
export async function lookCloser(
  client: ClientBase,
  input: { table: SnapshotTable; columns?: readonly SnapshotColumn[]; measured: TableMeasured },
): Promise<TableMeasured> {
  const { table, measured } = input;
  const columns = (input.columns ?? table.columns).flatMap((column) => {
    const held = heldValue(column);
    return held === undefined ? [] : [{ ...column, held }];
  });
  const decimals = columns.filter(isDecimal<SnapshotColumn & { held: HeldValue }>);
  const figures = [
    ...columns.map(({ held }) => `count(*) filter (where not ${held.isExact})`),
    ...decimals.map(({ held }) => `coalesce(sum(${held.value}), 0)::text`),
  ];
  const seen = await readFigures(client, `select ${figures.join(', ')} from ${table.from}`);
  const sums = decimals.map(({ name }, index) => [name, seen[columns.length + index] ?? '0'] as const);
  return {
    ...measured,
    sums: { ...measured.sums, ...Object.fromEntries(sums) },
    unfitColumns: columns.filter((_, index) => Number(seen[index]) > 0).map(({ name }) => name),
  };
}

function isDecimal<Column extends SnapshotColumn>(column: Column): column is Column & { scale: number } {
  return column.scale !== undefined;
}

async function readFigures(client: ClientBase, text: string): Promise<(string | null)[]> {
  const { rows } = await client.query<(string | null)[]>({ text, rowMode: 'array' });
  return rows[0] ?? [];
}
