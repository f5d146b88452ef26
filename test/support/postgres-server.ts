import { join } from 'node:path';
import { freePort } from '../../embedded/free-port.ts';
import { startPostgres, type PostgresServer } from '../../embedded/postgres.ts';

/** A Postgres for tests alone: its data lives only as long as they run, so it does not wait for the disk. */
export async function startTestPostgres(
  folder: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> {
  return startPostgres({
    dataDir: join(folder, 'postgres'),
    port: await freePort(),
    settings: {
      ...{ fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' },
      ...settings,
    },
  });
}
