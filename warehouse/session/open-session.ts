import pg from 'pg';
import { keepAlive } from './keep-alive.ts';
import { LoginClient } from './login-client.ts';

/**
 * Sets in its first message how it writes times, as libpq does for PGTZ, and that a backslash in a string is literal: sessions are in UTC, whatever
 * the server and the role are set to. A pooler in transaction mode applies this to each server session that it lends; a later `set` would affect the
 * next client too.
 */
export class UtcClient extends LoginClient {
  /** The process ID of the session that the server gave when it was opened. */
  declare readonly processID: number | null;

  getStartupConf(): Record<string, string> {
    return { ...startupOf.call(this), TimeZone: 'UTC', DateStyle: 'ISO', standard_conforming_strings: 'on' };
  }
}

/** The driver's function that builds its first message. It has no setting for a time zone. */
const { getStartupConf: startupOf } = pg.Client.prototype as unknown as {
  readonly getStartupConf: (this: pg.Client) => Record<string, string>;
};

/** Opens a separate session, beside the pool. `application` is the name under which Postgres lists it. */
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
