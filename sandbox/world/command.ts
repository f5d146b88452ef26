import * as z from 'zod';
import { resourceNames } from '../api/resources.ts';

const record = { connection: z.string(), resource: z.enum(resourceNames) };

/** Raw JSON is passed as text, because parsing it would lose digits. */
const jsonObject = z
  .string()
  .refine((text) => text.trimStart().startsWith('{') && isJson(text), 'must be a JSON object');

/**
 * Everything that can happen to the world after its first sync. The admin interface sends commands and the journal stores
 * them, so a restarted sandbox is the same world.
 */
export const commandSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('add-connection'),
    name: z.string().regex(/^[a-z0-9][a-z0-9-]*$/),
    platform: z.string(),
    records: z.int().min(0).max(1_000_000),
    accessToken: z.string().optional(),
    /** Not ready until a command says so (`false`), ready at once, or ready this long after being added. */
    ready: z.boolean().default(true),
    readyAfterMs: z.number().min(0).optional(),
    /** With `readyAfterMs`: the first sync arrives in this many batches, and its data is readable after the first one. */
    batches: z.int().min(1).max(1_000).default(1),
  }),
  z.strictObject({ kind: z.literal('make-ready'), connection: z.string() }),
  z.strictObject({
    kind: z.literal('refuse'),
    connection: z.string(),
    /** The answer to every request from now on; null accepts requests again. */
    refusal: z.strictObject({ status: z.int().default(401), code: z.string() }).nullable(),
  }),
  /** Replaces members of a record; moves `last_synced_at` and, unless the patch sets it, `updated_at`. */
  z.strictObject({
    kind: z.literal('change'),
    ...record,
    id: z.string(),
    patch: jsonObject,
    remove: z.array(z.string()).default([]),
  }),
  /** Sets `last_synced_at` of the named records, or of every `every`-th one, to the same time. */
  z.strictObject({
    kind: z.literal('touch'),
    ...record,
    ids: z.array(z.string()).optional(),
    every: z.int().min(1).optional(),
  }),
  z.strictObject({
    kind: z.literal('delete'),
    ...record,
    id: z.string(),
    event: z.boolean().default(true),
    /** True if the service deleted the record itself, by a write, so it has nothing to detect. */
    byService: z.boolean().default(false),
  }),
  z.strictObject({ kind: z.literal('recreate'), ...record, id: z.string() }),
  z.strictObject({
    kind: z.literal('add'),
    ...record,
    record: jsonObject,
    /** Keeps the `last_synced_at` of the given record, or its absence. */
    keepLastSyncedAt: z.boolean().default(false),
  }),
  /** Applies a bill credit memo to bills: balances, links and states change on both sides. Amounts are JSON numbers as text. */
  z.strictObject({
    kind: z.literal('apply-credit'),
    connection: z.string(),
    memo: z.string(),
    date: z.string(),
    bills: z.array(z.strictObject({ id: z.string(), amount: z.string() })).min(1),
  }),
  z.strictObject({
    kind: z.literal('set-clock'),
    offsetMs: z.number().optional(),
    frozenAt: z.number().optional(),
  }),
]);

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** A command as it is sent; members with a default may be omitted. */
export type CommandInput = z.input<typeof commandSchema>;
export type Command = z.output<typeof commandSchema>;
export type CommandOf<Kind extends Command['kind']> = Extract<Command, { kind: Kind }>;
