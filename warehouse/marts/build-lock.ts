import pg from 'pg';
import type { MartsTarget } from '../tables/marts.ts';
import { tryLock } from '../try-lock.ts';

/** What releases before 0.6 lock. */
const oldKeys: Readonly<Record<MartsTarget, number>> = { postgres: 7_232_019_552, lake: 7_232_019_553 };

/** What dbt calls its sessions. */
export const dbtApplication = 'daybook-dbt';

export class BuildRunning extends Error {
  override readonly name = 'BuildRunning';
  readonly handling = 'retry';

  constructor() {
    super('The marts of this database are being built already: wait until that build is over.');
  }
}

/**
 * Runs `work` as the only build of the target's marts, whatever host it is on. The lock is that of a session of its own, which
 * is not taken from those that syncs use: it lasts for minutes. Throws BuildRunning.
 */
export async function withBuildLock<Result>(
  { databaseUrl, target }: { databaseUrl: string; target: MartsTarget },
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'daybook marts',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  });
  // A session that breaks rejects its next statement; without a listener it would end the process too.
  client.on('error', () => undefined);
  await client.connect();
  try {
    if (!(await tryLock(client, { name: `marts/${target}`, oldKey: oldKeys[target] })))
      throw new BuildRunning();
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Ends what dbt is doing in the database, and waits until it is gone: dbt's own end does not end its statement there. */
export async function endDbtSessions(client: pg.ClientBase): Promise<void> {
  await client.query(
    `select pg_terminate_backend(pid, 10000)
     from pg_stat_activity
     where application_name = $1 and datname = current_database() and usename = current_user`,
    [dbtApplication],
  );
}
