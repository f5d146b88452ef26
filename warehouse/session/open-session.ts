import pg from 'pg';
import { keepAlive } from './keep-alive.ts';
import { LoginClient } from './login-client.ts';

/**
 * Says in its first message how it writes times, as libpq does for PGTZ, and that a backslash in a text is one: whatever the server and the
 * role are set to, sessions are in UTC. A pooler in transaction mode takes that and keeps to it in each server session that it lends; what
 * a `set` changes afterwards would be the next client's too.
 */
export class UtcClient extends LoginClient {
  /** Which session the server said this is, when it was opened. */
  declare readonly processID: number | null;

  getStartupConf(): Record<string, string> {
    return { ...startupOf.call(this), TimeZone: 'UTC', DateStyle: 'ISO', standard_conforming_strings: 'on' };
  }
}

/** Where the driver says what its first message holds. It has no setting for a time zone. */
const { getStartupConf: startupOf } = pg.Client.prototype as unknown as {
  readonly getStartupConf: (this: pg.Client) => Record<string, string>;
};

/** Opens a session of its own, beside the pool. `application` is what Postgres lists it as. */
export async function openSession(url: string, { application }: { application: string }): Promise<UtcClient> {
  const client = new UtcClient({
    connectionString: url,
    application_name: application,
    connectionTimeoutMillis: 10_000,
    ...keepAlive,
  });
  // A session that breaks rejects its next statement; without a listener it would end the process too.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}
