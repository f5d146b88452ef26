import type { Webhook } from '../webhooks/webhook.ts';
import { renderJob } from './job-book.ts';
import type { RunningJob } from './job-book.ts';

/** Returns the webhook for the success of an asynchronous write. In the document it has no token and no connection (6.2). */
export function jobWebhook(job: RunningJob): Webhook {
  const { id, connection } = job;
  return { type: 'JOB', code: 'JOB_COMPLETED', connection, recordId: id, body: renderJob(job) };
}
