import { z } from 'zod';

/** What the API document leaves open, with the sandbox's answer as default. The admin interface can turn each knob. */
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
});

export type SettingsInput = z.input<typeof settingsSchema>;
export type Settings = z.output<typeof settingsSchema>;
