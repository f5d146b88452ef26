/** The log of requests, for tests to inspect. It contains no secrets. */
export class RequestLog {
  #entries: LoggedRequest[] = [];
  #total = 0;

  add(entry: Omit<LoggedRequest, 'number'>): LoggedRequest {
    this.#total += 1;
    const logged = { ...entry, number: this.#total };
    this.#entries.push(logged);
    if (this.#entries.length > 2 * kept) this.#entries = this.#entries.slice(-kept);
    return logged;
  }

  list(): readonly LoggedRequest[] {
    return this.#entries.slice(-kept);
  }

  clear(): void {
    this.#entries = [];
    this.#total = 0;
  }

  get total(): number {
    return this.#total;
  }
}

const kept = 50_000;

export interface LoggedRequest {
  /** Counts from 1, and continues when older entries are dropped. */
  readonly number: number;
  /** Arrival by the local clock, Unix ms. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  /** Without `access_token`. */
  readonly query: string;
  readonly connection: string | null;
  readonly version: string | null;
  /** The kind of fault that was played, if any. */
  fault: string | null;
  /** `Retry-After` of the fault that was played, as sent. */
  readonly retryAfter?: string;
  /** Null until answered, and permanently if the connection broke before. */
  status: number | null;
}
