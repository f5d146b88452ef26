import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client, Connection } from '@temporalio/client';
import getPort from 'get-port';
import { pino } from 'pino';
import { completeSettings } from '../cli/settings.ts';
import { parseConfig } from '../config/parse-config.ts';
import { startPostgres } from '../embedded/postgres.ts';
import { startTemporal } from '../embedded/temporal.ts';
import { readPausedSchedules } from '../operations/schedules/paused-schedules.ts';
import { metricsText } from '../server/metrics-text.ts';
import { startHttpServer } from '../server/start-http-server.ts';
import { judgeAlerts } from '../warehouse/alerts/judge-alerts.ts';
import { readStaleConnections } from '../warehouse/alerts/read-stale-connections.ts';
import { rankConnections } from '../warehouse/connections/rank-connections.ts';
import { readStatus, readStatusesFor } from '../warehouse/connections/read-status.ts';
import { openWarehouse, type Warehouse } from '../warehouse/open-warehouse.ts';
import { readRuns } from '../warehouse/runs/read-run.ts';
import { repairSchedules } from '../worker/schedules/repair-schedules.ts';
import { fillFleet } from './fill-fleet.ts';
import { migrateDatabase } from './initial.ts';
import { quantile, type Measured } from './measured.ts';

type Progress = (text: string) => void;

/** Measures the queries of people and workers on a warehouse with many connections. */
export async function measureFleet(
  options: { connections: number; days: number; repeat: number },
  progress: Progress,
): Promise<Measured[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'daybook-bench-'));
  const postgres = await startPostgres({ dataDir: path.join(folder, 'postgres'), port: await getPort() });
  const temporal = await startTemporal({
    databaseFile: path.join(folder, 'temporal.db'),
    port: await getPort(),
    uiPort: await getPort(),
    report: progress,
  });
  try {
    await migrateDatabase(postgres.url);
    const warehouse = openWarehouse({ url: postgres.url, connections: 10 });
    const connection = await Connection.connect({ address: temporal.address });
    try {
      const places = {
        warehouse,
        temporal: new Client({ connection }),
        apiAddress: 'https://bench.example',
        requestsPer10s: 450,
      };
      progress(`filling a warehouse with ${options.connections} connections`);
      await fillFleet(warehouse, { ...options, ...places }, progress);
      const ledger = await measureLedger(warehouse);
      const repairs = await measureRepairs(places, progress);
      const asked = await measureQueries(places, { ...options, address: temporal.address, folder }, progress);
      return [...ledger, ...asked, ...repairs];
    } finally {
      await warehouse.close();
      await connection.close();
    }
  } finally {
    await temporal.stop();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

interface FleetPlaces {
  readonly warehouse: Warehouse;
  readonly temporal: Client;
  readonly apiAddress: string;
  readonly requestsPer10s: number;
}

/** Measures the disk space of the ledger, with its indexes. */
async function measureLedger({ pool }: Warehouse): Promise<Measured[]> {
  const { rows } = await pool.query<{ name: string; rows: string; bytes: string }>(
    `select oid::regclass::text as name, reltuples::bigint::text as rows, pg_total_relation_size(oid)::text as bytes
     from pg_class
     where oid in ('sync.runs'::regclass, 'sync.run_streams'::regclass, 'sync.quiet_days'::regclass)
     order by 1`,
  );
  const measured = rows.map(({ name, rows: count, bytes }) => ({
    what: `size of ${name}`,
    seen: `${gigabytes(Number(bytes))} (${Number(count).toLocaleString('en')} rows)`,
  }));
  const sum = rows.reduce((bytes, row) => bytes + Number(row.bytes), 0);
  return [
    ...measured,
    { what: 'size of the ledger', seen: gigabytes(sum), target: '20 GB for 10,000 and 90 days' },
  ];
}

function gigabytes(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(2)} GB`;
}

async function measureRepairs(places: FleetPlaces, progress: Progress): Promise<Measured[]> {
  const logger = pino({ level: 'warn' }, process.stderr);
  const repair = async (what: string): Promise<Measured> => {
    progress(what);
    const started = performance.now();
    const done = await repairSchedules(places, { logger, stopping: new AbortController().signal });
    const seconds = (performance.now() - started) / 1000;
    return { what, seen: `${seconds.toFixed(1)} s${done ? '' : ', not done'}` };
  };
  const resetSchedules = (): Promise<unknown> =>
    places.warehouse.pool.query(
      'update sync.connections set schedules_settled = null, schedules_checked_at = null',
    );
  const made = await repair('schedule repair that makes every schedule (two a connection)');
  await resetSchedules();
  const first = await repair('schedule repair of schedules that an earlier release made');
  const again = await repair('schedule repair again');
  return [made, { ...first, target: 'under 60 s for 10,000' }, { ...again, target: 'seconds' }];
}

async function measureQueries(
  { warehouse, temporal }: FleetPlaces,
  { repeat, address, folder }: { repeat: number; address: string; folder: string },
  progress: Progress,
): Promise<Measured[]> {
  const config = parseConfig({
    DATABASE_URL: 'postgres://unused@127.0.0.1/unused',
    TEMPORAL_ADDRESS: address,
    DAYBOOK_API_URL: 'https://bench.example',
    DAYBOOK_CLIENT_ID: 'bench',
    DAYBOOK_CLIENT_SECRET: 'bench',
    DAYBOOK_SECRET_KEY: Buffer.alloc(32, 'b').toString('base64'),
    DAYBOOK_HOME: folder,
  });
  const settings = completeSettings(config, {
    database: undefined,
    temporal: undefined,
    sandbox: undefined,
    secretKey: () => Promise.resolve(Buffer.alloc(32, 'b')),
  });
  const logger = pino({ level: 'warn' }, process.stderr);
  const server = await startHttpServer({
    host: '127.0.0.1',
    port: 0,
    portIsDefault: false,
    logger,
    readiness: {},
    metrics: () => metricsText(1),
    console: { settings, warehouse, temporal, logger },
  });
  const get = async (address_: string): Promise<void> => {
    const response = await fetch(`${server.url}${address_}`);
    if (!response.ok) throw new Error(`${address_} answered ${response.status}.`);
    sizes.set(address_, (await response.arrayBuffer()).byteLength);
  };
  const sizes = new Map<string, number>();
  const pausedElsewhere = ['co-00005'];
  const queries: Record<string, () => Promise<unknown>> = {
    'alerts are judged': async () => {
      await readStaleConnections(warehouse);
      await judgeAlerts(warehouse, { pausedElsewhere });
    },
    'status: the 20 that need a person first': async () => {
      const { names } = await rankConnections(warehouse, { pausedElsewhere, limit: 20 });
      await readStatusesFor(warehouse, names);
    },
    'status --json: all of them': () => readStatus(warehouse),
    'paused schedules, asked of Temporal': () => readPausedSchedules(temporal),
    'overview page': () => get('/'),
    'overview page 3, stale': () => get('/?state=stale&page=3'),
    'overview page, searched by name': () => get('/?search=777'),
    'page of a connection': () => get('/connections/co-00001'),
    'runs page': () => get('/runs'),
    'runs page, far down': () => get('/runs?before=co-00001-2-30'),
    'status NAME': () => readStatusesFor(warehouse, ['co-00001']),
    'runs of a connection': () => readRuns(warehouse, { connectionId: 'co-00001', limit: 20 }),
    '/metrics': () => get('/metrics'),
  };
  const measured: Measured[] = [];
  try {
    for (const [what, ask] of Object.entries(queries)) {
      progress(what);
      await ask();
      const times: number[] = [];
      for (let time = 0; time < repeat; time += 1) {
        const started = performance.now();
        await ask();
        times.push(performance.now() - started);
      }
      measured.push({
        what: `${what}, p50 and p95`,
        seen: `${quantile(times, 0.5).toFixed(0)} and ${quantile(times, 0.95).toFixed(0)} ms`,
      });
    }
    measured.push({ what: 'overview page, size', seen: `${Math.round((sizes.get('/') ?? 0) / 1024)} KB` });
    return measured;
  } finally {
    await server.close();
  }
}
