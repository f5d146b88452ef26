import { Counter, Histogram } from 'prom-client';
import { registry } from '../../worker/metrics.ts';

const webhooks = new Counter({
  name: 'daybook_webhooks_total',
  help: 'Webhooks received, by outcome: stored, forged, unreadable, unavailable (could not be stored); too large, too slow, turned away (too many at once), broken off',
  labelNames: ['outcome'],
  registers: [registry],
});

const seconds = new Histogram({
  name: 'daybook_webhook_seconds',
  help: 'Time from a received webhook to its answer',
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  registers: [registry],
});

export type WebhookOutcome =
  | 'stored'
  | 'forged'
  | 'unreadable'
  | 'unavailable'
  | 'too large'
  | 'too slow'
  | 'turned away'
  | 'broken off';

/** Counts a webhook at the moment of its answer. */
export function noteWebhook(outcome: WebhookOutcome, milliseconds: number): void {
  webhooks.inc({ outcome });
  seconds.observe(milliseconds / 1000);
}
