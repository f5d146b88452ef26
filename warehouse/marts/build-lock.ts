import type { PoolClient } from 'pg';
import type { Warehouse } from '../open-warehouse.ts';

/** Any number, as long as it is always the same. */
const buildLock = 7_232_019_552;

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
 * Runs `work` as the only build of marts in this database. What a build that was killed left running is ended first.
 * Throws BuildRunning.
 */
export async function withBuildLock<Result>(
  { pool }: Warehouse,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [
      buildLock,
    ]);
    if (rows[0]?.locked !== true) throw new BuildRunning();
    try {
      await client.query(endLeftovers, [dbtApplication]);
      return await work(client);
    } finally {
      await client.query('select pg_advisory_unlock($1)', [buildLock]).catch((error: unknown) => {
        // The session is gone, and the lock with it; what broke it has been thrown already, or will be.
        broken = error instanceof Error ? error : new Error('unlock failed');
      });
    }
  } finally {
    client.release(broken);
  }
}

/** Waits until they are gone: what they still hold would be in the way. */
const endLeftovers = `
  select pg_terminate_backend(pid, 10000)
  from pg_stat_activity
  where application_name = $1 and datname = current_database() and usename = current_user
`;
