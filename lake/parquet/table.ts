/** A table of a snapshot as DuckDB and Parquet see it. */
export interface LakeTable {
  readonly name: string;
  readonly columns: readonly LakeColumn[];
}

export interface LakeColumn {
  readonly name: string;
  readonly parquet: ParquetType;
}

export type ParquetType =
  'VARCHAR' | 'BOOLEAN' | 'DATE' | 'TIMESTAMP WITH TIME ZONE' | 'BIGINT' | 'DECIMAL(38,9)' | 'DECIMAL(38,12)';

/** Decimal places of a type; undefined if it is not decimal. */
export function scaleOf(type: ParquetType): number | undefined {
  return { 'DECIMAL(38,9)': 9, 'DECIMAL(38,12)': 12 }[type as string];
}
