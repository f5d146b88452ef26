import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../embedded/free-port.ts';
import { startPostgres } from '../../embedded/postgres.ts';
import { migrate } from '../../warehouse/schema/migrate.ts';
import { openWarehouse } from '../../warehouse/open-warehouse.ts';
import { cloneDatabase } from './clone-database.ts';

/** A Postgres for the simulation alone, with a migrated database to clone. */
export interface SimulationPostgres {
  /** Database `daybook`, as its owner. */
  readonly url: string;
  /** Database `postgres`, as superuser. */
  readonly adminUrl: string;
  /** Creates a migrated, unused database and returns its address. */
  createDatabase(): Promise<string>;
}

/** Runs `use` with the servers up, then stops them and removes their folder. */
export async function withPostgres<Result>(
  use: (place: SimulationPostgres) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-simulation-'));
  const postgres = await startPostgres({
    dataDir: join(folder, 'postgres'),
    port: await freePort(),
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' },
  });
  try {
    const warehouse = openWarehouse({ url: postgres.url, connections: 1 });
    await migrate(warehouse);
    await warehouse.close();
    const { url, adminUrl } = postgres;
    return await use({ url, adminUrl, createDatabase: () => cloneDatabase(postgres) });
  } finally {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
