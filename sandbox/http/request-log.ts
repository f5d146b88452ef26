/** What was asked, for tests to look at afterwards. Secrets are not in it. */
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
  /** Counts from 1; older entries are forgotten, the numbers go on. */
  readonly number: number;
  /** Arrival by the local clock, Unix ms. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  /** Without `access_token`. */
  readonly query: string;
  readonly connection: string | null;
  readonly version: string | null;
  /** Kind of the fault that was played, if any. */
  fault: string | null;
  /** `Retry-After` of the fault that was played, as it was sent. */
  readonly retryAfter?: string;
  /** Null until answered, and for ever when the connection was broken before. */
  status: number | null;
}
