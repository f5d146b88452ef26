import { columnKinds, type ColumnKind } from '../../resources/resource.ts';

/** A table of a snapshot, and how its rows are got from the database. */
export interface SnapshotTable {
  readonly name: string;
  /** A relation, or a query in parentheses. */
  readonly from: string;
  /** Columns that name a row. */
  readonly key: readonly string[];
  readonly columns: readonly SnapshotColumn[];
  /** Those of a connection stand together, by date where they have one. */
  readonly orderBy: readonly string[];
  /**
   * Which changes are a reason for a snapshot, and how they are seen: connection by connection, by the transactions that wrote the rows
   * (`from` has their `xmin`); by all of its `content` (small tables), or that of some columns; `none` where a change alone is no reason.
   * Whether a file may be kept is another question, and every column decides that.
   */
  readonly changesBy: RowsOf | 'content' | { readonly contentOf: readonly string[] } | 'none';
}

/** A table whose writes `sync.note_change` counts. */
export interface RowsOf {
  /** With its schema. */
  readonly writtenTo: string;
  /** Whose rows these are; undefined: of any resource. */
  readonly resource: string | undefined;
}

export interface SnapshotColumn {
  readonly name: string;
  readonly parquet: (typeof columnKinds)[ColumnKind]['parquet'] | 'BOOLEAN';
  /** Digits that a decimal has behind the point; undefined for other types. */
  readonly scale: number | undefined;
}

export function columnOf(name: string, kind: ColumnKind): SnapshotColumn {
  const { parquet } = columnKinds[kind];
  const [, scale] = /^DECIMAL\(38,(\d+)\)$/.exec(parquet) ?? [];
  return { name, parquet, scale: scale === undefined ? undefined : Number(scale) };
}

/** A name as SQL writes it: `interval` is a word of the language. */
export function named(name: string): string {
  return `"${name}"`;
}
