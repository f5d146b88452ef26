import type { SandboxAdmin } from '../support/sandbox-admin.ts';
import { allowedListLag, type Change, type History } from './history.ts';
import type { TrueRecord } from './true-record.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** The environment of a history's companies: wrong clocks, lagging lists, and cursors that break. */
export class Environment {
  readonly #parts: { readonly history: History; readonly clock: VirtualClock; readonly admin: SandboxAdmin };
  readonly #whenPutForward: (() => void)[] = [];
  #serviceError: number;
  readonly #workerErrors = [0, 0];
  #cursorMark = 0;
  /** The age of lists in milliseconds: now, at most since the last `settle`, and at most ever. */
  listLag = 0;
  maxListLag = 0;
  maxListLagEver = 0;
  /** The latest time that the service's clock told before it was last set back. */
  latestTimeBeforeSetback = -Infinity;
  /** The right times at which Postgres's clock was set. */
  readonly databaseJumps: number[] = [];
  /** The longest wait that the service has asked for, in milliseconds. */
  longestRetryAfter = 20_000;

  constructor(parts: {
    readonly history: History;
    readonly clock: VirtualClock;
    readonly admin: SandboxAdmin;
  }) {
    this.#parts = parts;
    this.#serviceError = parts.history.skewHours * hourMilliseconds;
  }

  async open(): Promise<void> {
    await this.#setServiceError(this.#serviceError);
    await this.#configure();
  }

  /** The service's time, Unix milliseconds. */
  serviceNow(): number {
    return this.#parts.clock.now() + this.#serviceError;
  }

  /**
   * Whether lists ever lagged further than they may, so that even two listings may not show a live record. A record that came with a
   * version older than itself counts as that much older.
   */
  laggedTooFar({ resource, backdatedBy }: Pick<TrueRecord, 'resource' | 'backdatedBy'>): boolean {
    const { history } = this.#parts;
    const lag = resource === 'subscriptions' ? history.lookbackSeconds * 1000 : allowedListLag(history);
    return this.maxListLagEver > 0 && this.maxListLagEver + backdatedBy >= lag;
  }

  /** The error of the clock of the worker in this slot. */
  workerError(slot: string): number {
    return this.#workerErrors[Number(slot) % 2] ?? 0;
  }

  async change({ what, which, minutes = 0 }: Change): Promise<void> {
    const { history, clock } = this.#parts;
    const milliseconds = minutes * 60_000;
    const handlers: Partial<Record<Change['what'], () => Promise<void>>> = {
      'service clock': () => this.#setServiceError(history.skewHours * hourMilliseconds + milliseconds),
      'database clock': () => {
        this.databaseJumps.push(clock.now());
        return clock.setDatabaseError(limitClockError(milliseconds));
      },
      'worker clock': () => {
        this.#workerErrors[which % 2] = limitClockError(milliseconds);
        return Promise.resolve();
      },
      'old lists': () => {
        this.listLag = Math.max(0, milliseconds);
        this.maxListLag = Math.max(this.maxListLag, this.listLag);
        this.maxListLagEver = Math.max(this.maxListLagEver, this.listLag);
        return this.#configure();
      },
      'cursors break': () => {
        this.#cursorMark += 1;
        return this.#configure();
      },
    };
    const handler = handlers[what];
    if (handler === undefined) throw new Error(`${what} is not a change of the environment.`);
    await handler();
  }

  /** Corrects every clock, except for the service's permanent error, and makes lists current. */
  async settle(): Promise<void> {
    const { history, clock } = this.#parts;
    await this.#setServiceError(history.skewHours * hourMilliseconds);
    if (this.databaseJumps.length > 0) {
      this.databaseJumps.push(clock.now());
      await clock.setDatabaseError(0);
    }
    this.#workerErrors.fill(0);
    this.listLag = 0;
    this.maxListLag = 0;
    await this.#configure();
  }

  async #setServiceError(milliseconds: number): Promise<void> {
    if (milliseconds < this.#serviceError)
      this.latestTimeBeforeSetback = Math.max(this.latestTimeBeforeSetback, this.serviceNow());
    if (milliseconds > this.#serviceError) for (const tell of this.#whenPutForward) tell();
    this.#serviceError = milliseconds;
    await this.#parts.admin.execute({ kind: 'set-clock', offsetMs: milliseconds });
  }

  /** Calls `tell` when the service's clock, which was behind, is corrected. A sync that comes only afterwards sees nothing of that. */
  onClockSetForward(tell: () => void): void {
    this.#whenPutForward.push(tell);
  }

  async #configure(): Promise<void> {
    const { history, admin } = this.#parts;
    const {
      pageSize,
      cursor,
      lastCursor,
      missingRecordStatus,
      anonymous = false,
      dateless = false,
    } = history;
    await admin.configure({
      requestsPer10s: 1_000_000,
      defaultLimit: pageSize,
      maximumLimit: pageSize,
      cursor,
      lastCursor,
      missingRecordStatus,
      subscriptionsNameConnection: !anonymous,
      tellsTime: !dateless,
      listBehindMs: this.listLag,
      cursorMark: this.#cursorMark === 0 ? '' : String(this.#cursorMark),
    });
  }
}

const hourMilliseconds = 3_600_000;

/**
 * Limits a clock's error to half a day: with a clock a day off Postgres's nothing begins until a person corrects it, which nobody does here
 * during runs.
 */
function limitClockError(milliseconds: number): number {
  const most = 11.5 * hourMilliseconds;
  return Math.max(-most, Math.min(most, milliseconds));
}
