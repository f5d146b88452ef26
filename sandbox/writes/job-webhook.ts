import type { Webhook } from '../webhooks/webhook.ts';
import { renderJob } from './job-book.ts';
import type { RunningJob } from './job-book.ts';

/** Tells of the success of an asynchronous write. The document gives it no token and no connection (6.2). */
export function jobWebhook(job: RunningJob): Webhook {
  const { id, connection } = job;
  return { type: 'JOB', code: 'JOB_COMPLETED', connection, recordId: id, body: renderJob(job) };
}
