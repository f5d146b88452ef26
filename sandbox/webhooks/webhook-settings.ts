import * as z from 'zod';

const share = z.number().min(0).max(1).default(0);

export const webhookAddressSchema = z.url({ protocol: /^https?$/ });

/** Where webhooks go, and how unreliably (section 6.2). Without an address, nothing is sent or kept. */
export const webhookSettingsSchema = z.strictObject({
  addresses: z.array(webhookAddressSchema).max(20).default([]),
  /** The API version of the records in them. */
  version: z.enum(['2023-03-14', '2023-02-07']).default('2023-03-14'),
  attempts: z.int().min(1).max(20).default(6),
  /** The time from the first attempt to the last; each wait is twice as long as the one before. */
  spreadMs: z.number().min(0).default(900_000),
  /** The factor by which the spread and the delays are shortened. */
  timeFactor: z.number().positive().default(1),
  /** The timeout of an attempt, in real time. */
  timeoutMs: z.number().min(1).default(10_000),
  /** The maximum of concurrent attempts to each address. */
  concurrency: z.int().min(1).max(256).default(32),
  /** A different number selects different webhooks for the following shares. */
  seed: z.int().default(1),
  /** The shares of webhooks that never arrive, arrive twice, or are late by up to `delayMs` and so out of order. */
  lost: share,
  doubled: share,
  delayed: share,
  delayMs: z.number().min(0).default(5_000),
  /** The share of webhooks that someone else also sends a copy of, signed with another secret. */
  forged: share,
  /** The share of touched, but unchanged, records that are announced as changed (6.2, 4). */
  touched: share,
});

export type WebhookSettingsInput = z.input<typeof webhookSettingsSchema>;
export type WebhookSettings = z.output<typeof webhookSettingsSchema>;
