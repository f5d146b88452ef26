import * as z from 'zod';

/** The owner of a namespace, in the schedule `daybook-owner`. Readable by everyone who can read the namespace: no secrets. */
export type OwnerRecord = z.infer<typeof ownerRecord>;

/** Later releases may add fields. */
export const ownerRecord = z.looseObject({
  /** Each takeover creates a new one. */
  claim: z.string(),
  /** Renewed again and again; the owner's database knows it. */
  token: z.string(),
  /** The number of tokens so far. */
  generation: z.number(),
  /** The id of the warehouse; a copy of its database has the same. */
  warehouse: z.string(),
  /** Host, port and name, for people. */
  database: z.string(),
  /** The API address it runs with: `sandbox`, or DAYBOOK_API_URL. */
  api: z.string(),
  /** The time of the claim, by the clock of the owner's database, for people. */
  since: z.string(),
  server: z.object({ system: z.string().nullable(), database: z.string(), started: z.string() }),
  /** Warehouses that owned the namespace before and were taken over: their schedules may be deleted. */
  replaced: z.array(z.string()),
  /** Set while somebody asks whether the owner is alive: it answers with another token. */
  asks: z.string().optional(),
});
