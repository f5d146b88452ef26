import { randomUUID } from 'node:crypto';
import type { Outcome } from './outcome.ts';

/** Asynchronous writes (2.10, 4.7). The newest are kept, by ID and by idempotency key; a restart drops them. */
export class JobBook {
  readonly #jobs = new Map<string, Job>();
  readonly #keyed = new Map<string, Job>();

  /** Adds a job and runs it. */
  start(asked: AskedJob, run: (job: RunningJob) => Promise<Outcome>): Job {
    const state = { id: randomUUID(), status: 'prequeued' as const, outcome: null, toldLater: false };
    const job: RunningJob = { ...asked, ...state };
    const added = Object.assign(job, { finished: run(job) });
    this.#jobs.set(added.id, added);
    if (asked.key !== null) this.#keyed.set(jobKey(asked.connection, asked.key), added);
    if (this.#jobs.size > kept) this.#forgetOldest();
    return added;
  }

  get(id: string): Job | null {
    return this.#jobs.get(id) ?? null;
  }

  /** Returns the job of a key. Each connection has its own keys. */
  ofKey(connection: string, key: string): Job | null {
    return this.#keyed.get(jobKey(connection, key)) ?? null;
  }

  #forgetOldest(): void {
    for (const { id, connection, key, outcome } of this.#jobs.values()) {
      if (outcome === null) continue;
      this.#jobs.delete(id);
      if (key !== null) this.#keyed.delete(jobKey(connection, key));
      return;
    }
  }
}

/** Returns the job as its address and its webhook show it, as JSON text; bodies are as they were sent. */
export function renderJob({ id, status, request, outcome }: RunningJob): string {
  const { url, method, body } = request;
  const response = outcome === null ? 'null' : `{"http_status":${outcome.status},"body":${outcome.body}}`;
  return (
    `{"type":"JOB","code":"JOB_COMPLETED","job":{"id":"${id}","status":"${status}",` +
    `"request":{"url":${JSON.stringify(url)},"method":"${method}","body":${body}},"response":${response}}}`
  );
}

function jobKey(connection: string, key: string): string {
  return `${connection}/${key}`;
}

const kept = 10_000;

export interface AskedJob {
  readonly connection: string;
  /** The `Idempotency-Key`, if any. */
  readonly key: string | null;
  readonly request: JobRequest;
}

export interface RunningJob extends AskedJob {
  readonly id: string;
  status: 'prequeued' | 'pending' | 'success' | 'failure';
  outcome: Outcome | null;
  /** True if the client was answered before the job was done: a webhook then reports its success. */
  toldLater: boolean;
}

export interface Job extends RunningJob {
  readonly finished: Promise<Outcome>;
}

export interface JobRequest {
  readonly url: string;
  readonly method: string;
  /** JSON text. */
  readonly body: string;
}
