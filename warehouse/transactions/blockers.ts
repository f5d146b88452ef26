import type { Pool } from 'pg';
import { sessionInWords } from './session-in-words.ts';
import { isOwnSession } from './taking-locks.ts';

/** A session that holds what another one waits for. */
export interface Blocker {
  readonly pid: number;
  /** The session belongs to the owner of the warehouse, so it is Daybook's, and ends. */
  readonly isOurs: boolean;
  /** Describes the session and the time it has taken, for people. */
  readonly inWords: string;
}

export interface BlockerWatch {
  /** Sets the session that may come to wait. */
  watch(pid: number): void;
  /** The blockers that were seen last. */
  readonly lastSeen: readonly Blocker[];
  stop(): Promise<void>;
}

/**
 * Checks four times a second which sessions block a session, through another connection of the pool. `onSeen` is called at first, when the blockers
 * change, and twice a minute.
 */
export function watchBlockers(pool: Pool, onSeen: (inWords: string) => void): BlockerWatch {
  const firstSeen = new Map<number, number>();
  let watched: number | undefined;
  let lastSeen: readonly Blocker[] = [];
  let told = { who: '', at: 0 };
  let looking: Promise<void> | undefined;
  const timer = setInterval(() => {
    if (watched === undefined) return;
    looking ??= look(watched).finally(() => {
      looking = undefined;
    });
  }, 250);
  return {
    watch(pid) {
      watched = pid;
    },
    get lastSeen() {
      return lastSeen;
    },
    async stop() {
      clearInterval(timer);
      await looking;
    },
  };

  async function look(pid: number): Promise<void> {
    const seen = await readBlockers(pool, { pid, firstSeen }).catch(() => []);
    if (seen.length === 0) return;
    lastSeen = seen;
    const who = seen.map((blocker) => blocker.pid).join();
    if (who === told.who && performance.now() - told.at < 30_000) return;
    told = { who, at: performance.now() };
    onSeen(describeBlockers(seen));
  }
}

export function describeBlockers(blockers: readonly Blocker[]): string {
  return blockers.map((blocker) => blocker.inWords).join('; ');
}

/** Reads the blockers. Only its owner and a superuser may see when a transaction began; otherwise the time since it was first seen is given. */
async function readBlockers(
  pool: Pool,
  { pid, firstSeen }: { pid: number; firstSeen: Map<number, number> },
): Promise<Blocker[]> {
  const { rows } = await pool.query<{
    pid: number;
    user: string | null;
    application: string | null;
    is_ours: boolean;
    seconds: number | null;
  }>(
    `select a.pid, a.usename as "user", nullif(a.application_name, '') as application,
       coalesce(${isOwnSession}, true) as is_ours,
       extract(epoch from clock_timestamp() - a.xact_start)::float8 as seconds
     from (select distinct unnest(pg_blocking_pids($1)) as pid) blocking
     join pg_stat_activity a using (pid)
     order by a.pid`,
    [pid],
  );
  const now = performance.now();
  return rows.map(({ pid: blocker, user, application, is_ours, seconds }) => {
    if (!firstSeen.has(blocker)) firstSeen.set(blocker, now);
    const met = (now - (firstSeen.get(blocker) ?? now)) / 1000;
    const lasting = seconds === null ? `for at least ${met.toFixed(0)} s` : `for ${seconds.toFixed(0)} s`;
    const session = sessionInWords({ pid: blocker, application });
    return {
      pid: blocker,
      isOurs: is_ours,
      inWords: `${user ?? 'Postgres'} (${session}), in a transaction ${lasting}`,
    };
  });
}
