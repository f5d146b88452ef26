import { named, type SnapshotColumn } from './snapshot-table.ts';

/**
 * SQL that says whether the value of a column can be held by its Parquet type, digit by digit; undefined where every value
 * can. Never null for a value that is not.
 */
export function fits({ name, parquet, scale }: SnapshotColumn): string | undefined {
  const value = named(name);
  // NaN is greater than every number, and has no scale.
  if (scale !== undefined) return `(min_scale(${value}) <= ${scale} and abs(${value}) < 1e${38 - scale})`;
  // What every reader can show: Python's years have four digits.
  if (parquet === 'DATE' || parquet === 'TIMESTAMP WITH TIME ZONE')
    return `(${value} >= '0001-01-01' and ${value} < '10000-01-01')`;
  return undefined;
}
