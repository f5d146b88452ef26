import { named, type SnapshotColumn } from './snapshot-table.ts';

/** SQL for a value as its Parquet type holds it, and for how exactly it does. */
export interface HeldValue {
  /** Decimals beyond those of the type are rounded half away from zero; a value that it cannot hold at all is null. */
  readonly value: string;
  /** Whether the exact value is held, digit by digit. Never null for a value that is not null. */
  readonly isExact: string;
  /** Whether the value is held, if not to the last digit. Never null for a value that is not null. */
  readonly isHeld: string;
}

/** The first time that not every reader can show, in UTC: Python's years have four digits. */
export const firstTooLate = `'10000-01-01'`;

export function isTime({ parquet }: Pick<SnapshotColumn, 'parquet'>): boolean {
  return parquet === 'DATE' || parquet === 'TIMESTAMP WITH TIME ZONE';
}

/** Returns undefined if the type holds every value. */
export function heldValue({ name, parquet, scale }: SnapshotColumn): HeldValue | undefined {
  const value = named(name);
  if (scale !== undefined) {
    // NaN is greater than every number, and has no scale. A number that is rounded up must still fit.
    const isHeld = `(abs(${value}) < 1e${38 - scale} - 0.5e-${scale})`;
    return {
      // Never longer than the stored value, whose length longestRow measures.
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
