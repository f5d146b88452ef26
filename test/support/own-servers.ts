import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { freePort } from '../../embedded/free-port.ts';
import { startPostgres, stopOrphanedPostgres } from '../../embedded/postgres.ts';
import { startTemporal } from '../../embedded/temporal.ts';
import { migrate } from '../../warehouse/schema/migrate.ts';
import { openWarehouse, type Warehouse } from '../../warehouse/open-warehouse.ts';

/** An empty warehouse and a Temporal namespace for one caller. */
export interface TestServers {
  readonly databaseUrl: string;
  readonly warehouse: Warehouse;
  readonly temporalAddress: string;
  readonly namespace: string;
  readonly client: Client;
  /** A new folder, in which processes run. */
  readonly folder: string;
  /** Stops Temporal for so many seconds. Undefined if the server is shared. */
  readonly interruptTemporal?: (seconds: number) => Promise<void>;
  /** Kills Postgres, and starts it again after so many seconds. */
  readonly interruptPostgres?: (seconds: number) => Promise<void>;
}

/** Starts a Postgres and a Temporal server for `run`, in a folder that is removed after it. */
export async function withOwnServers<Result>(
  run: (place: TestServers) => Promise<Result>,
  report: (progress: string) => void,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-test-place-'));
  const postgresOptions = { dataDir: join(folder, 'postgres'), port: await freePort() };
  let postgres = await startPostgres(postgresOptions);
  const temporalOptions = {
    databaseFile: join(folder, 'temporal.db'),
    port: await freePort(),
    uiPort: await freePort(),
    report,
  };
  let temporal = await startTemporal(temporalOptions);
  const interruptTemporal = async (seconds: number): Promise<void> => {
    await temporal.stop();
    await wait(seconds * 1_000);
    temporal = await startTemporal(temporalOptions);
  };
  const interruptPostgres = async (seconds: number): Promise<void> => {
    const [pid] = (await readFile(join(postgresOptions.dataDir, 'postmaster.pid'), 'utf8')).split('\n');
    process.kill(Number(pid), 'SIGKILL');
    await postgres.exited;
    await wait(seconds * 1_000);
    await stopOrphanedPostgres(postgresOptions.dataDir);
    postgres = await startPostgres(postgresOptions);
  };
  const warehouse = openWarehouse({ url: postgres.url, connections: 4 });
  const connection = await Connection.connect({ address: temporal.address });
  try {
    await migrate(warehouse);
    report(`Watch it at ${temporal.ui}`);
    return await run({
      databaseUrl: postgres.url,
      warehouse,
      temporalAddress: temporal.address,
      namespace: 'default',
      client: new Client({ connection }),
      folder,
      interruptTemporal,
      interruptPostgres,
    });
  } finally {
    await connection.close();
    await warehouse.close();
    await temporal.stop();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
