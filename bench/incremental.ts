import { openWarehouse, type Warehouse } from '../warehouse/open-warehouse.ts';
import { addBenchConnections, benchTables, changeBills, syncBills } from './bench-connection.ts';
import { startBenchServers, type BenchServers } from './bench-servers.ts';
import { migrateDatabase } from './initial.ts';
import { growth, median, type Measured } from './measured.ts';

const changed = 1_000;
const few = 10_000;

/** Compares syncs of the same number of changed bills with few and with many stored bills. */
export async function measureIncremental(
  { bills, repeat }: { bills: number; repeat: number },
  progress: (text: string) => void,
): Promise<Measured[]> {
  const servers = await startBenchServers(migrateDatabase);
  const warehouse = openWarehouse({ url: servers.databaseUrl, connections: 2 });
  try {
    const measureSeconds = (name: string, stored: number): Promise<number> =>
      measureChanges(warehouse, servers, { name, stored, repeat, progress });
    const small = await measureSeconds('small', few);
    const large = await measureSeconds('large', bills);
    const what = `sync of ${changed.toLocaleString('en-US')} changed bills`;
    return [
      { what: `${what} of ${few.toLocaleString('en-US')} stored`, seen: `${small.toFixed(2)} s` },
      { what: `${what} of ${bills.toLocaleString('en-US')} stored`, seen: `${large.toFixed(2)} s` },
      { what: 'growth of an incremental sync', seen: growth(small, large), target: 'under 20 %' },
    ];
  } finally {
    await warehouse.close();
    await servers.stop();
  }
}

/** Loads the bills, and returns the median seconds of syncs with changes. */
async function measureChanges(
  warehouse: Warehouse,
  servers: BenchServers,
  input: { name: string; stored: number; repeat: number; progress: (text: string) => void },
): Promise<number> {
  const { name, stored, repeat, progress } = input;
  progress(`loading ${stored.toLocaleString('en-US')} bills`);
  await addBenchConnections(warehouse, servers, { names: [name], bills: stored });
  await syncBills(servers, [name]);
  // Otherwise Postgres would vacuum in the background at a time of its own choice.
  for (const table of benchTables) await warehouse.pool.query(`vacuum (analyze) ${table}`);
  const seconds: number[] = [];
  // The first round is a warm-up.
  for (let revision = 1; revision <= repeat + 1; revision += 1) {
    progress(`${name}: round ${revision - 1} of ${repeat}`);
    await changeBills(warehouse, servers, { name, bills: stored, changed, revision });
    const took = await syncBills(servers, [name]);
    await checkUpdated(warehouse, name);
    if (revision > 1) seconds.push(took);
  }
  return median(seconds);
}

async function checkUpdated({ pool }: Warehouse, name: string): Promise<void> {
  const { rows } = await pool.query<{ updated: number }>(
    `select updated::int from sync.run_streams where connection_id = $1 and stream = 'bills'
     order by started_at desc limit 1`,
    [name],
  );
  if (rows[0]?.updated !== changed)
    throw new Error(`The sync brought ${String(rows[0]?.updated)} changes instead of ${changed}.`);
}
