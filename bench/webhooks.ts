import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import getPort from 'get-port';
import { Agent } from 'undici';
import { startSandbox, type Sandbox } from '../sandbox/start-sandbox.ts';
import { webhookSignature } from '../source/webhook-signature.ts';
import { addConnection } from '../warehouse/connections/add-connection.ts';
import { openWarehouse, type Warehouse } from '../warehouse/open-warehouse.ts';
import { syncBills } from './bench-connection.ts';
import { startBenchServers, type BenchServers } from './bench-servers.ts';
import { countEvents } from '../test/support/count-events.ts';
import { migrateDatabase } from './initial.ts';
import { median, type Measured } from './measured.ts';

const connectionId = 'acme-us';
const perSecond = 200;
const changes = 20;

/** Measures how fast webhooks are received, whether any is lost when the server is killed, and how soon a change is in `finance`. */
export async function measureWebhooks(
  { seconds }: { seconds: number },
  progress: (text: string) => void,
): Promise<Measured[]> {
  const sandbox = await startSandbox({ records: 1_000, clientId: 'bench', clientSecret: 'bench' });
  const servers = await startBenchServers(migrateDatabase, { url: sandbox.url, stop: () => sandbox.close() });
  const warehouse = openWarehouse({ url: servers.databaseUrl, connections: 2 });
  try {
    await addConnection(warehouse, servers.secretKey, {
      connectionId,
      apiAddress: servers.apiUrl,
      token: `sandbox-token-${connectionId}`,
      expandPlatformData: false,
    });
    await syncBills(servers, [connectionId]);
    const bills = await readBills(sandbox);
    progress('changes on an idle system');
    const latencies = await measureChanges(warehouse, servers, { sandbox, bills });
    progress(`${perSecond} webhooks a second for ${seconds} s`);
    const burst = await measureBurst(warehouse, servers, { bills, seconds, progress });
    return [...latencies, ...burst];
  } finally {
    await warehouse.close();
    await servers.stop();
  }
}

interface Bill {
  id: string;
  text: string;
}

async function readBills({ adminUrl }: Sandbox): Promise<Bill[]> {
  const response = await fetch(`${adminUrl}/content/${connectionId}/bills`);
  const lines = (await response.text()).split('\n').slice(0, -1);
  return lines.map((text) => ({ id: (JSON.parse(text) as { id: string }).id, text }));
}

/** Changes one bill after the other; the sandbox sends the webhooks. */
async function measureChanges(
  warehouse: Warehouse,
  servers: BenchServers,
  { sandbox, bills }: { sandbox: Sandbox; bills: readonly Bill[] },
): Promise<Measured[]> {
  await admin(sandbox, 'PUT', '/webhooks', { addresses: [`${servers.workerUrl}/webhooks`] });
  const milliseconds: number[] = [];
  for (let round = 0; round <= changes; round += 1) {
    const { id = '' } = bills[round % bills.length] ?? {};
    const memo = `changed ${round}`;
    const started = performance.now();
    await admin(sandbox, 'POST', '/commands', [
      { kind: 'change', connection: connectionId, resource: 'bills', id, patch: JSON.stringify({ memo }) },
    ]);
    while ((await readMemo(warehouse, id)) !== memo) await pause(5);
    // The first round is a warm-up.
    if (round > 0) milliseconds.push(performance.now() - started);
    await pause(1_500);
  }
  await admin(sandbox, 'PUT', '/webhooks', {});
  return [
    {
      what: 'a change is in finance, median',
      seen: inMilliseconds(median(milliseconds)),
      target: 'under 2,000 ms',
    },
    {
      what: 'a change is in finance, slowest',
      seen: inMilliseconds(Math.max(...milliseconds)),
      target: 'under 2,000 ms',
    },
    { what: 'Temporal actions of a webhook', seen: String(await countLastActions(servers)) },
  ];
}

async function readMemo({ pool }: Warehouse, id: string): Promise<string | null | undefined> {
  const { rows } = await pool.query<{ memo: string | null }>(
    'select memo from finance.bills where connection_id = $1 and id = $2',
    [connectionId, id],
  );
  return rows[0]?.memo;
}

async function countLastActions(servers: BenchServers): Promise<number> {
  const connection = await Connection.connect({ address: servers.temporalAddress });
  try {
    const handle = new Client({ connection }).workflow.getHandle(`webhooks/${connectionId}`);
    return (await countEvents(handle)).actions;
  } finally {
    await connection.close();
  }
}

interface Sent {
  acknowledged: number;
  /** Attempts without an acknowledgment, because the server was away. */
  refused: number;
  /** Times of webhooks that were acknowledged at the first attempt. */
  milliseconds: number[];
}

async function measureBurst(
  warehouse: Warehouse,
  servers: BenchServers,
  input: { bills: readonly Bill[]; seconds: number; progress: (text: string) => void },
): Promise<Measured[]> {
  const { bills, seconds, progress } = input;
  const port = await getPort();
  let server = await servers.serve(port);
  const sent: Sent = { acknowledged: 0, refused: 0, milliseconds: [] };
  const total = perSecond * seconds;
  const started = performance.now();
  const sending: Promise<void>[] = [];
  let killed: Promise<void> | undefined;
  for (let number = 0; number < total; number += 1) {
    const ahead = started + (number * 1_000) / perSecond - performance.now();
    if (ahead > 0) await pause(ahead);
    const bill = bills[number % bills.length];
    if (bill !== undefined) sending.push(deliver(port, { body: buildBody(bill, number), sent }));
    if (number === total / 2) killed = restart();
  }
  await Promise.all([...sending, killed]);
  progress('waiting until all are applied');
  const last = performance.now();
  const stored = await countStored(warehouse);
  while ((await countStored(warehouse, 'waiting')) > 0) await pause(100);
  const drained = performance.now() - last;
  server.kill('SIGTERM');
  await once(server, 'exit');
  const times = sent.milliseconds.sort((a, b) => a - b);
  return [
    { what: 'webhooks sent and acknowledged', seen: `${sent.acknowledged} of ${total}`, target: 'all' },
    { what: 'attempts while the server was killed and started', seen: String(sent.refused) },
    { what: 'lost', seen: String(total - stored), target: '0' },
    { what: 'a webhook is answered in, median', seen: inMilliseconds(percentile(times, 0.5)) },
    {
      what: 'a webhook is answered in, 99 of 100',
      seen: inMilliseconds(percentile(times, 0.99)),
      target: 'under 100 ms',
    },
    { what: 'a webhook is answered in, slowest', seen: inMilliseconds(times.at(-1) ?? Number.NaN) },
    { what: 'the last one is applied after', seen: `${(drained / 1000).toFixed(1)} s`, target: 'under 30 s' },
  ];

  async function restart(): Promise<void> {
    progress('kill -9');
    server.kill('SIGKILL');
    await once(server, 'exit');
    server = await servers.serve(port);
  }
}

/** The maximum that the service may send at once. */
const connections = new Agent({ connections: 32 });

/** Sends a webhook until it is acknowledged. */
async function deliver(port: number, { body, sent }: { body: string; sent: Sent }): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const started = performance.now();
    const answer = connections.request({
      origin: `http://127.0.0.1:${port}`,
      path: '/webhooks',
      method: 'POST',
      body,
      headers: { 'x-service-signature': webhookSignature(body, 'bench') },
    });
    const status = await answer.then(
      async (response) => {
        await response.body.dump();
        return response.statusCode;
      },
      () => 0,
    );
    if (status === 200) {
      sent.acknowledged += 1;
      if (attempt === 1) sent.milliseconds.push(performance.now() - started);
      return;
    }
    sent.refused += 1;
    // The service spreads its six attempts over 15 minutes, so they do not come back all at once.
    await pause(1_000 + Math.random() * 5_000);
  }
}

/** Each body is unique: a repeated one would only be counted. */
function buildBody({ text }: Bill, number: number): string {
  const head = `"type":"BILL","code":"BILL_UPDATED","access_token":"t","connection_id":"conn-${connectionId}"`;
  return `{${head},"number":${number},"bill":${text}}`;
}

async function countStored({ pool }: Warehouse, status?: string): Promise<number> {
  const { rows } = await pool.query<{ webhooks: number }>(
    `select count(*) as webhooks from sync.webhook_inbox
     where payload ? 'number' and ($1::text is null or status = $1)`,
    [status ?? null],
  );
  return rows[0]?.webhooks ?? 0;
}

async function admin({ adminUrl }: Sandbox, method: string, path: string, body: unknown): Promise<void> {
  const response = await fetch(adminUrl + path, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`The sandbox answered ${response.status}: ${await response.text()}`);
}

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function inMilliseconds(value: number): string {
  return `${Math.round(value).toLocaleString('en-US')} ms`;
}
