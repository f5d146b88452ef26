import { z } from 'zod';
import { snapshotIdPattern } from './snapshot-id.ts';

/**
 * The shapes of what is read from a lake. Whoever may write to a bucket may write anything there, and what is read becomes part of
 * paths, statements and pages: so nothing is taken that Daybook does not write itself.
 */
export const snapshotIdText = z.string().regex(snapshotIdPattern);

/** Of a table, a mart or a column; none that every object of JavaScript has. */
export const nameText = z
  .string()
  .regex(/^_?[a-z][a-z0-9_]{0,61}$/)
  .refine((name) => !(name in {}));

/** A file of a table, in the folder of its name. */
export const partPath = z.string().regex(/^[a-z][a-z0-9_]{0,61}\/part-\d{5,9}\.parquet$/);

export const sha256Text = z.string().regex(/^[0-9a-f]{64}$/);

export const countNumber = z.int().nonnegative();

export const instantText = z.string().regex(/^\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/);

export const dayText = z.string().regex(/^\d{4}-\d\d-\d\d$/);

/** Words of our own: a version, a run, a warehouse. */
export const wordText = z.string().regex(/^[\w.:+-]{0,200}$/);
