import type { ClientBase } from 'pg';
import { holdLock, isHeldBy, LockLost, type HeldLock } from '../transactions/hold-lock.ts';
import { openSession } from '../session/open-session.ts';
import type { MartsTarget } from '../tables/marts.ts';

/** The application name of sessions that change marts in Postgres, dbt's included: the next build ends those that are left. */
export const dbtApplication = 'daybook-dbt';

export class BuildRunning extends Error {
  override readonly name = 'BuildRunning';
  readonly handling = 'retry';

  constructor() {
    super('The marts of this database are being built already: wait until that build is over.');
  }
}

/** The lock of the only build of a target. */
export interface BuildLock {
  /** Throws LockLost if the session that holds the lock is gone, or the error of a database that does not answer; the build must then stop. */
  readonly assertHeld: () => Promise<void>;
  /** The transaction that holds the lock: see `HeldLock`. */
  readonly transaction: string;
  /**
   * Throws LockLost if the lock is lost, as the transaction of another session sees it. If the process stalls afterwards, Postgres or the next build
   * ends that transaction. Through a pooler only this helps, because between two transactions a client has no session that could be ended.
   */
  readonly requireLock: RequireLock;
  /**
   * Runs a step of the build in a session that ends with it, if the lock is still held. A process that stalls in a step in Postgres loses the lock,
   * and the build that has it next ends the session.
   */
  readonly inSession: <Result>(step: (client: ClientBase) => Promise<Result>) => Promise<Result>;
  /** Runs `work` as the only build of another target too. The session that holds this lock holds the other one. Throws BuildRunning. */
  readonly withAnother: <Result>(
    target: MartsTarget,
    work: (another: BuildLock) => Promise<Result>,
  ) => Promise<Result>;
}

/**
 * Runs `work` as the only build of the target's marts on any host. It uses at most two sessions, none from the pool that syncs use, because one holds
 * the lock for minutes. Throws BuildRunning.
 */
export async function withBuildLock<Result>(
  { databaseUrl, target }: { databaseUrl: string; target: MartsTarget },
  work: (lock: BuildLock) => Promise<Result>,
): Promise<Result> {
  const lock = await holdLock(databaseUrl, `marts/${target}`);
  if (lock === undefined) throw new BuildRunning();
  try {
    return await work(buildLock(lock, { databaseUrl, target }));
  } finally {
    await lock.letGo();
  }
}

export type RequireLock = (client: Pick<ClientBase, 'query'>) => Promise<void>;

function buildLock(
  lock: HeldLock,
  { databaseUrl, target }: { databaseUrl: string; target: MartsTarget },
): BuildLock {
  const application = target === 'postgres' ? dbtApplication : 'daybook marts';
  const { assertHeld } = lock;
  return {
    transaction: lock.transaction,
    assertHeld,
    async requireLock(client) {
      const { transaction } = lock;
      if (!(await isHeldBy(client, { name: `marts/${target}`, transaction })))
        throw new LockLost(`marts/${target}`);
    },
    async inSession(step) {
      const client = await openSession(databaseUrl, { application });
      try {
        await assertHeld();
        return await step(client);
      } finally {
        await client.end();
      }
    },
    async withAnother(other, work) {
      const another = buildLock(lock, { databaseUrl, target: other });
      const done = await lock.withAnother(`marts/${other}`, () => work(another));
      if (done === undefined) throw new BuildRunning();
      return done.result;
    },
  };
}

/**
 * Ends the other sessions that change marts, and waits until they are gone: a statement goes on after dbt itself has ended, and a process that
 * has stalled goes on when it wakes.
 */
export async function endDbtSessions(client: ClientBase): Promise<void> {
  // As the role that logged in, whichever it acts as: one may end only sessions of roles that one has. One message, so one transaction.
  await client.query(
    `select set_config('role', 'none', true);
     select pg_terminate_backend(pid, 10000)
     from pg_stat_activity
     where application_name = '${dbtApplication}' and datname = current_database() and usename = session_user and pid <> pg_backend_pid()`,
  );
}
