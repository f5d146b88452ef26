import { Client, Connection } from '@temporalio/client';
import type { ScheduledStarted } from '../activities/start-scheduled.ts';
import { startSandbox } from '../sandbox/start-sandbox.ts';
import { addConnection } from '../warehouse/connections/add-connection.ts';
import { setSchedule } from '../warehouse/connections/set-schedule.ts';
import { openWarehouse, type Warehouse } from '../warehouse/open-warehouse.ts';
import { mainQueue } from '../temporal/task-queues.ts';
import { startBenchServers, type BenchServers } from './bench-servers.ts';
import { countEvents, type EventCounts } from '../test/support/count-events.ts';
import { migrateDatabase } from './initial.ts';
import { lastWrites } from './last-writes.ts';
import type { Measured } from './measured.ts';

const connectionId = 'acme-us';

/** Measures one scheduled sync when nothing has changed at the source: ten thousand connections multiply its cost. */
export async function measureIdle(
  { records }: { records: number },
  progress: (text: string) => void,
): Promise<Measured[]> {
  const sandbox = await startSandbox({ records, clientId: 'bench', clientSecret: 'bench' });
  const servers = await startBenchServers(migrateDatabase, { url: sandbox.url, stop: () => sandbox.close() });
  const warehouse = openWarehouse({ url: servers.databaseUrl, connections: 2 });
  try {
    await addConnection(warehouse, servers.secretKey, {
      connectionId,
      apiAddress: servers.apiUrl,
      token: `sandbox-token-${connectionId}`,
      expandPlatformData: false,
    });
    await setSchedule(warehouse, { connectionId, syncEvery: 86_400_000 });
    progress('initial sync');
    await tick(servers);
    await changeSomething(sandbox.adminUrl);
    await tick(servers);
    progress('idle tick');
    return await measureTick(warehouse, servers, sandbox.adminUrl);
  } finally {
    await warehouse.close();
    await servers.stop();
  }
}

/** Makes the lookback as short as in production: in a new sandbox, nearly all records have the same sync time, so some newer ones are needed. */
async function changeSomething(adminUrl: string): Promise<void> {
  const response = await fetch(`${adminUrl}/activity`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ connection: connectionId, changes: 10 }),
  });
  if (!response.ok) throw new Error(`The sandbox answered ${response.status}: ${await response.text()}`);
}

async function measureTick(
  warehouse: Warehouse,
  servers: BenchServers,
  adminUrl: string,
): Promise<Measured[]> {
  const before = await lastWrites(warehouse);
  const requestsBefore = await requestsTo(adminUrl);
  const started = performance.now();
  const { events, actions } = await tick(servers);
  const seconds = (performance.now() - started) / 1000;
  const wrote = before !== (await lastWrites(warehouse));
  return [
    {
      what: 'requests of an idle tick',
      seen: String((await requestsTo(adminUrl)) - requestsBefore),
      target: '8',
    },
    { what: 'history events of an idle tick', seen: String(events) },
    { what: 'Temporal actions of an idle tick', seen: String(actions) },
    { what: 'an idle tick takes', seen: `${seconds.toFixed(2)} s` },
    { what: 'it wrote to finance or history', seen: wrote ? 'yes' : 'no', target: 'no' },
  ];
}

/** A schedule that fires counts as two actions, in addition to the start of its workflow. */
const actionsOfSchedule = 2;

/** Does what the schedule does, and returns the counts of Temporal's history. */
async function tick(servers: BenchServers): Promise<EventCounts> {
  const connection = await Connection.connect({ address: servers.temporalAddress });
  const client = new Client({ connection });
  const scheduled = await client.workflow.start<(input: object) => Promise<ScheduledStarted>>(
    'scheduledStart',
    {
      workflowId: `scheduled/sync/${connectionId}`,
      taskQueue: mainQueue,
      args: [{ kind: 'sync', connection: connectionId }],
    },
  );
  const result = await scheduled.result();
  const counts = [await countEvents(scheduled)];
  if ('workflowId' in result) {
    const sync = client.workflow.getHandle(result.workflowId, result.runId);
    await sync.result();
    counts.push(await countEvents(sync));
  }
  await connection.close();
  return {
    events: counts.reduce((sum, { events }) => sum + events, 0),
    actions: counts.reduce((sum, { actions }) => sum + actions, actionsOfSchedule),
  };
}

async function requestsTo(adminUrl: string): Promise<number> {
  const response = await fetch(`${adminUrl}/requests`);
  return ((await response.json()) as { total: number }).total;
}
