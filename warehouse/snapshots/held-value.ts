import { named, type SnapshotColumn } from './snapshot-table.ts';

/** SQL of a value as its Parquet type holds it, and of what became of it on the way. */
export interface HeldValue {
  /** Decimals beyond those of the type are rounded half away from zero; what it cannot hold at all is null. */
  readonly value: string;
  /** Whether it is the very value, digit by digit. Never null for a value that is not. */
  readonly isExact: string;
  /** Whether it is there, if not to the last digit. Never null for a value that is not. */
  readonly isHeld: string;
}

/** What every reader can show, in UTC: Python's years have four digits. */
export const firstTooLate = `'10000-01-01'`;

export function isTime({ parquet }: Pick<SnapshotColumn, 'parquet'>): boolean {
  return parquet === 'DATE' || parquet === 'TIMESTAMP WITH TIME ZONE';
}

/** Undefined where the type holds every value. */
export function heldValue({ name, parquet, scale }: SnapshotColumn): HeldValue | undefined {
  const value = named(name);
  if (scale !== undefined) {
    // NaN is greater than every number, and has no scale. What is rounded up must still have room.
    const isHeld = `(abs(${value}) < 1e${38 - scale} - 0.5e-${scale})`;
    return {
      // Never longer than what was stored: longestRow says how long rows are.
      value: `case when ${isHeld} then trim_scale(round(${value}, ${scale})) end`,
      isExact: `(min_scale(${value}) <= ${scale} and ${isHeld})`,
      isHeld,
    };
  }
  if (isTime({ parquet })) {
    const isHeld = `(${value} >= '0001-01-01' and ${value} < ${firstTooLate})`;
    return { value: `case when ${isHeld} then ${value} end`, isExact: isHeld, isHeld };
  }
  return undefined;
}
