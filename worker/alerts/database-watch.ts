import type { Told } from '../../warehouse/alerts/settle-delivery.ts';
import { isDatabaseAway } from '../../warehouse/is-database-away.ts';
import type { ToldAlert } from './alert-message.ts';

/**
 * Whether the database answers. What is wrong with the database cannot stand in it, so this alone is kept in memory: each
 * process tells of it for itself, and one that ends while the database is away does not tell that it came back.
 */
export interface DatabaseWatch {
  /** A statement got through, or failed for another reason than that the database is away. */
  answered(): void;
  /** A statement failed. */
  failed(error: unknown): void;
  /** What is to be told: that it is away, then that it is back. An absence that nobody was told of is not told of later. */
  due(): ToldAlert | undefined;
  /** What became of telling it. */
  settle(told: Told): void;
}

export function createDatabaseWatch(patience: { milliseconds: number }): DatabaseWatch {
  let answered = { at: new Date(), ticks: performance.now() };
  let reason = 'no answer';
  let open: ToldAlert | undefined;
  let due: ToldAlert | undefined;
  let mayBeKnown = false;
  const watch: DatabaseWatch = {
    answered() {
      answered = { at: new Date(), ticks: performance.now() };
      reason = 'no answer';
    },
    failed(error) {
      if (isDatabaseAway(error)) reason = reasonOf(error);
      else watch.answered();
    },
    due() {
      // The process's own ticks: its clock may be set meanwhile.
      const away = performance.now() - answered.ticks > patience.milliseconds;
      if (away && open === undefined) {
        open = absence(answered.at, reason);
        due = open;
        mayBeKnown = false;
      } else if (!away && open !== undefined) {
        due = mayBeKnown ? { ...open, resolved_at: answered.at } : undefined;
        open = undefined;
      }
      return due;
    },
    settle(told) {
      if (told !== 'not told') mayBeKnown = true;
      if (told === 'told') due = undefined;
    },
  };
  return watch;
}

function absence(since: Date, reason: string): ToldAlert {
  return {
    id: null,
    kind: 'database',
    connection_id: null,
    message: `Postgres has not answered since ${since.toISOString().slice(0, 16).replace('T', ' ')} UTC (${reason}), so nothing is synced.`,
    remedy:
      'Bring it back: work goes on by itself, and nothing is lost. "daybook doctor" says what it finds.',
    opened_at: since,
    resolved_at: null,
  };
}

/** By code; a driver's message may say where the database is. */
function reasonOf(error: Error): string {
  const code = 'code' in error ? String(error.code) : 'no connection';
  return inWords[code] ?? code;
}

const inWords: Partial<Record<string, string>> = {
  '53100': 'its disk is full',
  '53300': 'it has no connection left',
};
