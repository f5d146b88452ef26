import * as z from 'zod';

/** What a namespace says of its owner, in the schedule `daybook-owner`. Readable by everyone who sees the namespace: no secrets. */
export type OwnerRecord = z.infer<typeof ownerRecord>;

/** More fields may come with later releases. */
export const ownerRecord = z.looseObject({
  /** Each take-over makes another. */
  claim: z.string(),
  /** Another one again and again; the owner's database knows it. */
  token: z.string(),
  /** How many tokens there have been. */
  generation: z.number(),
  /** The id of the warehouse; a copy of its database has the same. */
  warehouse: z.string(),
  /** Host, port and name, for people. */
  database: z.string(),
  /** The API address it runs with: `sandbox`, or DAYBOOK_API_URL. */
  api: z.string(),
  /** When it was claimed, by the clock of the owner's database, for people. */
  since: z.string(),
  server: z.object({ system: z.string().nullable(), database: z.string(), started: z.string() }),
  /** Warehouses that owned the namespace before and were taken over: their schedules may go. */
  replaced: z.array(z.string()),
  /** Somebody asks whether the owner lives: it answers with another token. */
  asks: z.string().optional(),
});
