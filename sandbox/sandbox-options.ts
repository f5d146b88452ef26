import * as z from 'zod';
import { chaosProfiles } from './data/chaos-profile.ts';
import { recordsBounds } from './records-bounds.ts';
import { webhookSettingsSchema } from './webhooks/webhook-settings.ts';

export const sandboxOptionsSchema = z.strictObject({
  host: z.string().default('127.0.0.1'),
  /** 0 picks a free port. */
  port: z.int().min(0).max(65_535).default(0),
  adminPort: z.int().min(0).max(65_535).default(0),
  seed: z.int().default(1),
  /** The number of records of each connection, over all its resources. */
  records: z.int().min(recordsBounds[0]).max(recordsBounds[1]).default(2_000),
  /** The day of the first sync; all documents are older. The same seed and day give the same world. */
  asOf: z.iso.date().default('2025-12-31'),
  chaos: z.enum(chaosProfiles).default('none'),
  clientId: z.string().default('sandbox-client'),
  clientSecret: z.string().default('sandbox-secret'),
  /** Where and how webhooks are sent; the admin interface can change it. */
  webhooks: webhookSettingsSchema.prefault({}),
  /** The hosts to which the admin interface may send them, in addition to loopback. */
  webhookHosts: z.array(z.string()).default([]),
  /**
   * A file that keeps the world across restarts. An existing world continues as it began: `seed`, `records`, `asOf`
   * and the odd records of `chaos` then come from the journal.
   */
  journal: z.string().optional(),
});

export type SandboxOptions = z.input<typeof sandboxOptionsSchema>;
