import { Client, Connection } from '@temporalio/client';
import { addConnection } from '../warehouse/connections/add-connection.ts';
import { setToken } from '../warehouse/connections/set-token.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import { mainQueue } from '../temporal/task-queues.ts';
import type { BenchServers } from './bench-servers.ts';
import type { Changes } from './bill-pages.ts';
import { billsToken } from './bills-token.ts';

/** Adds connections whose bills the page server serves. */
export async function addBenchConnections(
  warehouse: Warehouse,
  servers: BenchServers,
  { names, bills }: { names: readonly string[]; bills: number },
): Promise<void> {
  for (const connectionId of names) {
    await addConnection(warehouse, servers.secretKey, {
      connectionId,
      apiAddress: servers.apiUrl,
      token: billsToken({ bills, name: connectionId, changed: 0, revision: 0 }),
      expandPlatformData: false,
    });
  }
}

/** Changes bills of a connection at the source. */
export async function changeBills(
  warehouse: Warehouse,
  servers: BenchServers,
  { name, ...changes }: Changes & { name: string },
): Promise<void> {
  await setToken(warehouse, servers.secretKey, {
    connectionId: name,
    token: billsToken({ name, ...changes }),
  });
}

/** Runs a sync of the bills of each connection, all at once, and returns the seconds until the last one ends. */
export function syncBills(servers: BenchServers, connections: readonly string[]): Promise<number> {
  return run(servers, { workflow: 'syncConnection', kind: 'sync', connections });
}

/** Runs the reconcile of the bills of a connection, and returns its seconds. */
export function reconcileBills(servers: BenchServers, connection: string): Promise<number> {
  return run(servers, { workflow: 'reconcileConnection', kind: 'reconcile', connections: [connection] });
}

/** @throws if one of the runs does not succeed. */
async function run(
  servers: BenchServers,
  { workflow, kind, connections }: { workflow: string; kind: string; connections: readonly string[] },
): Promise<number> {
  const connection = await Connection.connect({ address: servers.temporalAddress });
  const client = new Client({ connection });
  const started = performance.now();
  const results = await Promise.all(
    connections.map((name) =>
      client.workflow.execute<(input: object) => Promise<{ status: string }>>(workflow, {
        workflowId: `${kind}/${name}`,
        taskQueue: mainQueue,
        args: [{ connection: name, resources: ['bills'], reason: 'bench' }],
      }),
    ),
  );
  const seconds = (performance.now() - started) / 1000;
  await connection.close();
  const bad = results.find(({ status }) => status !== 'succeeded');
  if (bad !== undefined) throw new Error(`The ${kind} of ${connections.join(', ')} is ${bad.status}.`);
  return seconds;
}

/** Makes the next sync read everything anew: clears the watermarks, and keeps the landed records. */
export async function clearWatermarks(warehouse: Warehouse): Promise<void> {
  await warehouse.pool.query('update sync.streams set watermark = null');
}

export async function emptyTables(warehouse: Warehouse): Promise<void> {
  await warehouse.pool.query(`truncate ${benchTables.join(', ')}`);
  await clearWatermarks(warehouse);
}

/** The tables in which bills land, history last. */
export const benchTables = [
  'finance.bills',
  'finance.bill_lines',
  'finance.bill_payment_allocations',
  'finance.bill_credit_allocations',
  'finance.bill_purchase_orders',
  'history.record_versions',
];
