import * as z from 'zod';
import { snapshotIdPattern } from './snapshot-id.ts';

/**
 * The shapes of values read from a lake. Anyone with write access to a bucket can write anything there, and values become part of paths,
 * statements and pages: so nothing is accepted that Daybook does not write itself.
 */
export const snapshotIdText = z.string().regex(snapshotIdPattern);

/** The name of a table, a mart or a column, but not of a property that every JavaScript object has. */
export const nameText = z
  .string()
  .regex(/^_?[a-z][a-z0-9_]{0,61}$/)
  .refine((name) => !(name in {}));

/** A file of a table, in the folder of the table's name. */
export const partPath = z.string().regex(/^[a-z][a-z0-9_]{0,61}\/part-\d{5,9}\.parquet$/);

export const sha256Text = z.string().regex(/^[0-9a-f]{64}$/);

export const countNumber = z.int().nonnegative();

/** A time by the clock of the database or of a host. */
export const instantText = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3}(\d{3})?)?Z$/)
  .refine(isTime);

export const dayText = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d$/)
  .refine((day) => isTime(`${day}T00:00:00Z`));

/** The time of a record, which the service may have put into any year that Postgres holds. */
export const watermarkText = z.string().regex(/^\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/);

/** Our own words: a version, a run, a warehouse. */
export const wordText = z.string().regex(/^[\w.:+-]{0,200}$/);

/** Whether Postgres and Python accept it too: JavaScript accepts a year 0, and reads a 30th of February or an hour 24 as a later day. */
function isTime(text: string): boolean {
  const time = new Date(text);
  if (text.startsWith('0000') || Number.isNaN(time.getTime())) return false;
  return time.toISOString().startsWith(text.slice(0, 19));
}
