import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { ApiError } from '../api/api-error.ts';
import type { Answer, DataRequest } from '../api/data-request.ts';
import type { Connection } from '../world/connection.ts';
import type { Job } from './job-book.ts';
import { jobWebhook } from './job-webhook.ts';
import { settleWrite } from './outcome.ts';
import type { Outcome } from './outcome.ts';
import { passToPlatform, pause } from './pass-to-platform.ts';
import type { ResponseMode } from './read-body.ts';
import type { WriteService } from './write-service.ts';

/**
 * Passes a write on to the platform, stores the result, and answers in one of the three ways (4.5, 4.7): with the
 * record, with `errors`, or with a job that continues.
 *
 * @throws ApiError 409 if the idempotency key was used with a different request before.
 */
export async function answerWrite(
  service: WriteService,
  request: DataRequest<Connection>,
  { responseMode, write }: PreparedWrite,
): Promise<Answer> {
  const attempt = async () => {
    await passToPlatform(service, request);
    return write();
  };
  const earlier = earlierJob(service, request);
  if (responseMode === 'sync') return settleWrite(service.settings, attempt);

  const job = earlier ?? startJob(service, request, attempt);
  const outcome = responseMode === 'async' ? null : await outcomeInTime(service, job);
  if (outcome !== null) return outcome;
  job.toldLater = true;
  return asyncAnswer(request, job);
}

function earlierJob(
  { jobs }: WriteService,
  { connection, idempotencyKey, target, body }: DataRequest<Connection>,
): Job | null {
  const job = idempotencyKey === null ? null : jobs.ofKey(connection.name, idempotencyKey);
  if (job === null) return null;
  const sent = job.request;
  if (sent.method === target.method && new URL(sent.url).pathname === target.path && sent.body === body)
    return job;
  const message = 'The request differs from an earlier one with the same Idempotency-Key.';
  throw new ApiError(409, 'IDEMPOTENCY_CONFLICT', message);
}

function startJob(
  service: WriteService,
  request: DataRequest<Connection>,
  attempt: () => Promise<string>,
): Job {
  const { connection, idempotencyKey, target, url, body } = request;
  const asked = {
    connection: connection.name,
    key: idempotencyKey,
    request: { url, method: target.method, body },
  };
  return service.jobs.start(asked, async (job) => {
    await nextTurn();
    job.status = 'pending';
    // Section 7: only idempotent writes are retried.
    const work = job.key === null ? attempt : () => withBackoff(service, attempt);
    const outcome = await settleWrite(service.settings, work);
    job.outcome = outcome;
    job.status = outcome.success ? 'success' : 'failure';
    if (outcome.success && job.toldLater) service.webhooks.publish([jobWebhook(job)]);
    return outcome;
  });
}

async function withBackoff(service: WriteService, attempt: () => Promise<string>): Promise<string> {
  for (const ms of backoffMs) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 452)) throw error;
    }
    await pause(service, ms);
  }
  return attempt();
}

/** Waits for 30 seconds (section 4.7); null if they are over. */
async function outcomeInTime({ settings }: WriteService, job: Job): Promise<Outcome | null> {
  const finished = new AbortController();
  const timeUp = wait(30_000 / settings.timeFactor, null, { signal: finished.signal, ref: false }).catch(
    () => null,
  );
  const outcome = await Promise.race([job.finished, timeUp]);
  finished.abort();
  return outcome;
}

function asyncAnswer({ url }: DataRequest<Connection>, { id, status }: Job): Answer {
  const response = { id, response_url: new URL(`/v2/jobs/${id}`, url).href, status };
  return { status: 200, body: JSON.stringify({ async_response: response }) };
}

const backoffMs = [2_000, 4_000, 8_000, 16_000, 32_000];

interface PreparedWrite {
  readonly responseMode: ResponseMode;
  /** Executes the write and returns the answer. */
  readonly write: () => string;
}
