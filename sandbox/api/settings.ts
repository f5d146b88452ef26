import * as z from 'zod';

/**
 * The choices that the API document leaves open, with the sandbox's defaults. The admin interface can change each of them. Three deliberately
 * violate the document: `defaultLimit` and `maximumLimit` allow smaller pages of items and events than it says (8), and `lastCursor` lets the
 * lists of subscriptions and events end in ways that it describes only for other lists (4.5, 4.6). Tests need short pages of every list, and a
 * client that tolerates more than it has to.
 */
export const settingsSchema = z.strictObject({
  defaultLimit: z.int().min(1).default(50),
  maximumLimit: z.int().min(1).default(500),
  /** The treatment of a `limit` above the maximum. */
  aboveMaximum: z.enum(['clamp', 'refuse']).default('clamp'),
  requestsPer10s: z.int().min(1).default(500),
  /** `Retry-After` of a 429, in any form; null sends none. */
  retryAfter: z.string().nullable().default(null),
  notReadyStatus: z.int().default(400),
  /** The status for fetching a record that does not exist. */
  missingRecordStatus: z.int().default(410),
  /** How the last page is marked as the last. */
  lastCursor: z.enum(['null', 'absent', 'empty']).default('null'),
  /** Whether a cursor stays valid if the record it names has moved or is gone; with `row`, it then answers 400. */
  cursor: z.enum(['value', 'row']).default('value'),
  /** Lists hide records that were synced within this time; fetches and events show them. */
  listLagMs: z.number().min(0).default(0),
  /** Lists show every record as it was this long ago, including deleted ones; fetches and events show the current state. */
  listBehindMs: z.number().min(0).default(0),
  /** Whether the list of subscriptions names its connection: its `connection` is optional (4.5). */
  subscriptionsNameConnection: z.boolean().default(true),
  /** Whether answers have a `Date` header. */
  tellsTime: z.boolean().default(true),
  /** The mark of cursors. A cursor with another mark answers `foreignCursorStatus`, as after a restart of the service. */
  cursorMark: z.string().default(''),
  foreignCursorStatus: z.int().default(500),
  /** The factor by which waits inside a write are shortened (the platform's time, the 30 s of `prefer_sync`, retries after 452). */
  timeFactor: z.number().positive().default(1),
  /** Whether a create answers 400 if it lacks what every platform requires (a vendor, lines, a name). */
  requiredFields: z.boolean().default(true),
  /** The treatment of written members that the record does not have, or that only the service may write. */
  otherFields: z.enum(['ignore', 'refuse']).default('ignore'),
  /** HTTP status of an answer with `errors`. */
  refusalStatus: z.int().default(200),
});

export type SettingsInput = z.input<typeof settingsSchema>;
export type Settings = z.output<typeof settingsSchema>;
