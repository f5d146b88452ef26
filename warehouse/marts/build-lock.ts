import type { ClientBase } from 'pg';
import { holdLock } from '../transactions/hold-lock.ts';
import { openSession } from '../session/open-session.ts';
import type { MartsTarget } from '../tables/marts.ts';

/** The application name of sessions that fill marts, dbt's and those of a copy: the next build ends them. */
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
  /** Throws if the lock is lost; the build must then stop. */
  readonly assertHeld: () => Promise<void>;
  /** Runs a step of the build in a session that ends with it, if the lock is still held. */
  readonly inSession: <Result>(
    step: (client: ClientBase) => Promise<Result>,
    application?: string,
  ) => Promise<Result>;
  /** Runs `work` as the only build of another target too, in the session that holds this lock. Throws BuildRunning. */
  readonly withAnother: <Result>(target: MartsTarget, work: () => Promise<Result>) => Promise<Result>;
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
  const assertHeld = (): Promise<void> => lock.assertHeld();
  const inSession: BuildLock['inSession'] = async (step, application = 'daybook marts') => {
    const client = await openSession(databaseUrl, { application });
    try {
      await assertHeld();
      return await step(client);
    } finally {
      await client.end();
    }
  };
  const withAnother: BuildLock['withAnother'] = async (other, another) => {
    const done = await lock.withAnother(`marts/${other}`, another);
    if (done === undefined) throw new BuildRunning();
    return done.result;
  };
  try {
    return await work({ assertHeld, inSession, withAnother });
  } finally {
    await lock.letGo();
  }
}

/** Ends dbt's sessions in the database and waits until they are gone, because a statement goes on after dbt itself has ended. */
export async function endDbtSessions(client: ClientBase): Promise<void> {
  await client.query(
    `select pg_terminate_backend(pid, 10000)
     from pg_stat_activity
     where application_name = $1 and datname = current_database() and usename = current_user`,
    [dbtApplication],
  );
}
