import * as z from 'zod';

/**
 * What the API document leaves open, with the sandbox's answer as default. The admin interface can turn each knob. Three go beyond the
 * document on purpose: with `defaultLimit` and `maximumLimit`, pages of items and events are smaller than it says (8), and with `lastCursor`
 * the lists of subscriptions and events end in ways that it gives to others only (4.5, 4.6). Tests need short pages of every list, and a
 * client that bears more than it has to.
 */
export const settingsSchema = z.strictObject({
  defaultLimit: z.int().min(1).default(50),
  maximumLimit: z.int().min(1).default(500),
  /** What happens to a `limit` above the maximum. */
  aboveMaximum: z.enum(['clamp', 'refuse']).default('clamp'),
  requestsPer10s: z.int().min(1).default(500),
  /** `Retry-After` of a 429, in any form; null sends none. */
  retryAfter: z.string().nullable().default(null),
  notReadyStatus: z.int().default(400),
  /** Status of a fetch of a record that is not there. */
  missingRecordStatus: z.int().default(410),
  /** How the last page says that it is the last. */
  lastCursor: z.enum(['null', 'absent', 'empty']).default('null'),
  /** Whether a cursor stays good when the record it names has moved or gone; `row` answers 400 then. */
  cursor: z.enum(['value', 'row']).default('value'),
  /** Lists do not show yet what was synced within this time; fetches and events do. */
  listLagMs: z.number().min(0).default(0),
  /** Lists show every record as it was so long ago, deleted ones included; fetches and events show it as it is. */
  listBehindMs: z.number().min(0).default(0),
  /** Whether the list of subscriptions says for whom it answers: its `connection` is optional (4.5). */
  subscriptionsNameConnection: z.boolean().default(true),
  /** Whether answers have a `Date` header. */
  tellsTime: z.boolean().default(true),
  /** What cursors are marked with; one with another mark answers `foreignCursorStatus`, as after a restart of the service. */
  cursorMark: z.string().default(''),
  foreignCursorStatus: z.int().default(500),
  /** The waits inside a write (the platform's time, the 30 s of `prefer_sync`, retries after 452) pass so many times faster. */
  timeFactor: z.number().positive().default(1),
  /** Whether a create without what no platform can do without (a vendor, lines, a name) answers 400. */
  requiredFields: z.boolean().default(true),
  /** What happens to members of a write that the record does not have or that only the service writes. */
  otherFields: z.enum(['ignore', 'refuse']).default('ignore'),
  /** HTTP status of an answer that is `errors`. */
  refusalStatus: z.int().default(200),
});

export type SettingsInput = z.input<typeof settingsSchema>;
export type Settings = z.output<typeof settingsSchema>;
