import type { DeliveryOutcome } from '../../warehouse/alerts/settle-delivery.ts';
import { isDatabaseAway, whyAway, whyUnwritable } from '../../warehouse/session/is-database-away.ts';
import { utcMinute } from '../utc-minute.ts';
import type { AnyAlert } from './alert-message.ts';

/**
 * Watches whether the database answers and accepts writes. The database cannot store its own problems, so this one alert is kept in
 * memory: each process reports it for itself, and a process that ends during an outage does not report its end.
 */
export interface DatabaseWatch {
  /** Records that a statement succeeded, or failed although the database is available. */
  answered(): void;
  /** Records the failure of a statement that works on any available database, full or not. */
  failed(error: unknown): void;
  /** Records the failure of other work, possibly because the database accepts no writes; small statements may still succeed then. */
  refused(error: unknown): void;
  /**
   * Returns the alert to send now: first that the database is away, then that it is back. An undelivered alert is due again after a
   * delay, like every alert (`settleDelivery`). An outage that was never reported is not reported later.
   */
  due(): AnyAlert | undefined;
  /** Records the outcome of sending it. */
  settle(outcome: DeliveryOutcome): void;
}

/** Milliseconds. */
export interface WatchPatience {
  /** How long the database may fail to answer. */
  readonly away: number;
  /** How long after the last refusal the problem counts as over: work is retried every 20 s. */
  readonly refusing: number;
  /** The delay after the first failed attempt; it doubles with each one, up to twelve times. */
  readonly trying: number;
}

export function createDatabaseWatch(
  patience: WatchPatience = { away: 30_000, refusing: 60_000, trying: 5_000 },
): DatabaseWatch {
  let lastAnswer = now();
  let reason = 'no answer';
  let refusal: { since: Date; last: Moment; why: string } | undefined;
  let open: AnyAlert | undefined;
  let pendingAlert: PendingAlert | undefined;
  let mayBeKnown = false;
  let lastCheck = now();
  const watch: DatabaseWatch = {
    answered() {
      lastAnswer = now();
      reason = 'no answer';
    },
    failed(error) {
      watch.refused(error);
      if (isDatabaseAway(error) && whyUnwritable(error) === undefined) reason = whyAway(error);
      else watch.answered();
    },
    refused(error) {
      const why = whyUnwritable(error);
      if (why !== undefined) refusal = { since: refusal?.since ?? new Date(), last: now(), why };
    },
    due() {
      // If this process was stopped or suspended, the silence is its own: it has not asked the database meanwhile.
      if (isOlder(lastCheck, standstillMilliseconds))
        lastAnswer = { ...lastAnswer, monotonic: performance.now() };
      lastCheck = now();
      if (refusal !== undefined && isOlder(refusal.last, patience.refusing)) refusal = undefined;
      const away = isOlder(lastAnswer, patience.away);
      if (open === undefined && (away || refusal !== undefined)) {
        open =
          away || refusal === undefined
            ? absenceAlert(lastAnswer.at, reason)
            : refusalAlert(refusal.since, refusal.why);
        // A receiver that did not learn the end of the previous alert still considers it open.
        mayBeKnown = pendingAlert !== undefined && pendingAlert.alert.resolved_at !== null;
        pendingAlert = untried(open);
      } else if (open !== undefined && !away && refusal === undefined) {
        pendingAlert = mayBeKnown ? untried({ ...open, resolved_at: lastAnswer.at }) : undefined;
        open = undefined;
      }
      return pendingAlert !== undefined && isReady(pendingAlert, patience.trying)
        ? pendingAlert.alert
        : undefined;
    },
    settle(outcome) {
      if (outcome !== 'undelivered') mayBeKnown = true;
      pendingAlert =
        outcome === 'delivered' || pendingAlert === undefined
          ? undefined
          : { ...pendingAlert, tries: pendingAlert.tries + 1, last: now() };
    },
  };
  return watch;
}

/** The loop runs every 2 s, and sending takes 5 s at most. */
const standstillMilliseconds = 15_000;

/** Ages are measured with the process's monotonic clock, because the system clock may be set meanwhile. */
interface Moment {
  readonly at: Date;
  readonly monotonic: number;
}

function now(): Moment {
  return { at: new Date(), monotonic: performance.now() };
}

function isOlder({ monotonic }: Moment, milliseconds: number): boolean {
  return performance.now() - monotonic > milliseconds;
}

interface PendingAlert {
  readonly alert: AnyAlert;
  readonly tries: number;
  /** The last attempt. */
  readonly last: Moment;
}

function untried(alert: AnyAlert): PendingAlert {
  return { alert, tries: 0, last: now() };
}

function isReady({ tries, last }: PendingAlert, milliseconds: number): boolean {
  return tries === 0 || isOlder(last, milliseconds * Math.min(2 ** (tries - 1), 12));
}

function absenceAlert(since: Date, reason: string): AnyAlert {
  return {
    ...databaseAlert(since),
    message: `Postgres has not answered since ${utcMinute(since)} (${reason}), so nothing is synced.`,
    remedy: 'Bring it back; work resumes by itself, and nothing is lost. "daybook doctor" shows more.',
  };
}

function refusalAlert(since: Date, why: string): AnyAlert {
  return {
    ...databaseAlert(since),
    message: `Postgres has refused to write since ${utcMinute(since)} (${why}), so new data cannot be stored.`,
    remedy: 'Free some space, or make it writable again; work resumes by itself, and nothing is lost.',
  };
}

function databaseAlert(
  since: Date,
): Pick<AnyAlert, 'id' | 'kind' | 'connection_id' | 'opened_at' | 'resolved_at'> {
  return { id: null, kind: 'database', connection_id: null, opened_at: since, resolved_at: null };
}
