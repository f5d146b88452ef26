import * as z from 'zod';

const share = z.number().min(0).max(1).default(0);

export const webhookAddressSchema = z.url({ protocol: /^https?$/ });

/** Where webhooks go and how badly (section 6.2). Nothing is sent, or kept, without an address. */
export const webhookSettingsSchema = z.strictObject({
  addresses: z.array(webhookAddressSchema).max(20).default([]),
  /** The shape of the records in them. */
  version: z.enum(['2023-03-14', '2023-02-07']).default('2023-03-14'),
  attempts: z.int().min(1).max(20).default(6),
  /** From the first attempt to the last, each wait twice as long as the one before. */
  spreadMs: z.number().min(0).default(900_000),
  /** The spread and the delays pass so many times faster. */
  timeFactor: z.number().positive().default(1),
  /** An attempt that takes longer has failed. Real time. */
  timeoutMs: z.number().min(1).default(10_000),
  /** Attempts at a time, to each address. */
  concurrency: z.int().min(1).max(256).default(32),
  /** Another number, other webhooks meet with the following. */
  seed: z.int().default(1),
  /** Shares of the webhooks that never arrive, arrive twice, or come late, by up to `delayMs`, and so out of order. */
  lost: share,
  doubled: share,
  delayed: share,
  delayMs: z.number().min(0).default(5_000),
  /** Share of which someone else sends a copy too, signed with a secret of their own. */
  forged: share,
  /** Share of touched records, which have not changed, that are told of as if they had (6.2, 4). */
  touched: share,
});

export type WebhookSettingsInput = z.input<typeof webhookSettingsSchema>;
export type WebhookSettings = z.output<typeof webhookSettingsSchema>;
