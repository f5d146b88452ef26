import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { keepAlive } from './session/keep-alive.ts';
import { UtcClient } from './session/open-session.ts';
import type { Database } from './tables/database.ts';

/** Postgres as the rest of Daybook sees it. */
export interface Warehouse {
  /** For statements that are prepared once and run for every page. */
  readonly pool: pg.Pool;
  /** For everything else, over the same pool. */
  readonly db: Kysely<Database>;
  close(): Promise<void>;
}

/**
 * Opens a pool of at most `connections`. It connects with the first statement. `onIdleError` is called for connections that broke while they were
 * idle; the pool replaces them by itself.
 */
export function openWarehouse(settings: {
  url: string;
  connections: number;
  onIdleError?: (error: Error) => void;
}): Warehouse {
  const pool = new pg.Pool({
    connectionString: settings.url,
    max: settings.connections,
    connectionTimeoutMillis: 10_000,
    ...keepAlive,
    application_name: 'daybook',
    types,
    Client: UtcClient,
    onConnect: survive,
  });
  pool.on('error', settings.onIdleError ?? (() => undefined));
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
  return {
    pool,
    db,
    async close() {
      await db.destroy();
      // Kysely ends the pool only if it has used it, and an open session keeps the process alive for 10 s.
      if (!pool.ending) await pool.end();
    },
  };
}

/** A connection that breaks while it is in use rejects its statement; without a listener it would end the process too. */
function survive(client: pg.ClientBase): void {
  client.on('error', () => undefined);
}

/** Dates stay text, since a Date would shift them by the local zone; counts, which fit, become numbers. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format): unknown => parsers.get(oid) ?? pg.types.getTypeParser(oid, format),
};

const parsers = new Map<number, (value: string) => unknown>([
  [pg.types.builtins.DATE, String],
  [pg.types.builtins.INT8, Number],
]);
