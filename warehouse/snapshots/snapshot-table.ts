import { columnKinds, type ColumnKind } from '../../resources/resource.ts';

/** A table of a snapshot, and how its rows are read from the database. */
export interface SnapshotTable {
  readonly name: string;
  /** A relation, or a query in parentheses. */
  readonly from: string;
  /** Columns that identify a row. */
  readonly key: readonly string[];
  readonly columns: readonly SnapshotColumn[];
  /** The rows of a connection stand together, by date if they have one. */
  readonly orderBy: readonly string[];
  /**
   * The changes that are a reason for a snapshot, and how they are detected: for each connection, by the transactions that wrote the rows (`from` has
   * their `xmin`); by all of its `content` (small tables), or that of some columns; `none` if a change alone is no reason. Whether a file may be kept
   * is decided separately, by every column.
   */
  readonly changesBy: RowsOf | 'content' | { readonly contentOf: readonly string[] } | 'none';
}

/** A table whose writes `sync.note_change` counts. */
export interface RowsOf {
  /** Name with its schema. */
  readonly writtenTo: string;
  /** The resource that the rows belong to; undefined: any. */
  readonly resource: string | undefined;
}

export interface SnapshotColumn {
  readonly name: string;
  readonly parquet: (typeof columnKinds)[ColumnKind]['parquet'] | 'BOOLEAN';
  /** Digits of a decimal after the point; undefined for other types. */
  readonly scale: number | undefined;
}

export function snapshotColumn(name: string, kind: ColumnKind): SnapshotColumn {
  const { parquet } = columnKinds[kind];
  const [, scale] = /^DECIMAL\(38,(\d+)\)$/.exec(parquet) ?? [];
  return { name, parquet, scale: scale === undefined ? undefined : Number(scale) };
}

/** Quotes a name for SQL: `interval` is a keyword. */
export function named(name: string): string {
  return `"${name}"`;
}
