import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import getPort from 'get-port';
import { runExportProcess } from '../activities/export/run-export-process.ts';
import { startPostgres } from '../embedded/postgres.ts';
import { snapshotId } from '../lake/manifest/snapshot-id.ts';
import { buildTarget, type BuildRun, type MartsPlaces } from '../marts/build-target.ts';
import { buildOnce } from '../marts/build-once.ts';
import type { BuildFollower, BuildPlaces, MartsBuilt } from '../marts/build-settings.ts';
import { pythonWithDbt } from '../marts/python-with-dbt.ts';
import { dashboardFile } from '../server/dashboard/dashboard-file.tsx';
import { readDashboard } from '../server/dashboard/read-dashboard.ts';
import type { MartsTarget } from '../warehouse/tables/marts.ts';
import { openWarehouse, type Warehouse } from '../warehouse/open-warehouse.ts';
import { warehouseId } from '../warehouse/warehouse-id.ts';
import { fillBooks } from './fill-books.ts';
import { migrateDatabase } from './initial.ts';
import { ratio, type Measured } from './measured.ts';
import { readCpuSeconds, postgresCpuSeconds } from '../test/support/process-cost.ts';

/** Builds and tests the marts of the same books in Postgres and on a snapshot, and on request with Spark on this machine. */
export async function measureMarts(
  { bills, spark }: { bills: number; spark: boolean },
  progress: (text: string) => void,
): Promise<Measured[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'daybook-bench-'));
  const dataDir = path.join(folder, 'postgres');
  const postgres = await startPostgres({ dataDir, port: await getPort() });
  const settings = buildSettings(folder, progress);
  const lake = path.join(folder, 'lake');
  try {
    await migrateDatabase(postgres.url);
    await fillBooks(postgres.url, { bills });
    await pythonWithDbt(settings);
    const cpu = async (): Promise<number> =>
      (await readCpuSeconds(process.pid, { withEnded: true })) +
      (await postgresCpuSeconds(await readPostmasterPid(dataDir)));
    const places = buildPlaces(settings, { databaseUrl: postgres.url, lake });
    const warehouse = openWarehouse({ url: postgres.url, connections: 2 });
    const build = async (target: 'postgres' | 'lake' | 'spark'): Promise<Build> => {
      const done = await measured(cpu, () => buildTarget({ warehouse, places }, createRun(target), settings));
      // With a million bills, each takes minutes.
      progress(`${target}: ${done.built.seconds.toFixed(1)} s`);
      return done;
    };
    const onPostgres = await build('postgres');
    await reportSlowest(path.join(folder, 'dbt', 'postgres'), progress);
    await exportOnce({
      warehouse,
      databaseUrl: postgres.url,
      folder,
      lake,
      ...(spark ? { iceberg: { add: true, cacheFolder: settings.cacheFolder } } : {}),
    });
    const onLake = await build('lake');
    const started = performance.now();
    const once = await measured(cpu, async () => {
      const runs = { lake: createRun('lake'), postgres: createRun('postgres') };
      const { built, copy } = await buildOnce({ warehouse, places }, runs, settings);
      if ('failure' in copy) throw new Error(copy.failure);
      return built;
    });
    const both = { ...once, seconds: (performance.now() - started) / 1000 };
    progress(`lake, copied into Postgres: ${both.seconds.toFixed(1)} s`);
    const dashboard = await readDashboardOnce(warehouse);
    await reportSlowest(path.join(folder, 'dbt', 'lake'), progress);
    const onSpark = spark ? await build('spark') : undefined;
    await warehouse.close();
    return [
      ...figures({ bills, onPostgres, onLake, both, dashboard }),
      ...(onSpark === undefined
        ? []
        : [{ what: 'the same marts with Spark', seen: `${onSpark.built.seconds.toFixed(1)} s` }]),
    ];
  } finally {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function createRun<Target extends MartsTarget>(target: Target): BuildRun<Target> {
  return { runId: randomUUID(), target, workflowId: '', temporalRunId: '', reason: 'bench' };
}

interface Build {
  readonly built: MartsBuilt;
  readonly cpuSeconds: number;
}

interface DashboardRead {
  readonly milliseconds: number;
  readonly megabytes: number;
}

/** Measures what a browser waits for before it can paint. The first read fills caches that later ones use. */
async function readDashboardOnce(warehouse: Warehouse): Promise<DashboardRead> {
  await readDashboard(warehouse);
  const started = performance.now();
  const html = dashboardFile(await readDashboard(warehouse));
  return { milliseconds: performance.now() - started, megabytes: Buffer.byteLength(html) / 1e6 };
}

function figures({
  bills,
  onPostgres,
  onLake,
  both,
  dashboard,
}: {
  bills: number;
  onPostgres: Build;
  onLake: Build;
  both: Build & { readonly seconds: number };
  dashboard: DashboardRead;
}): Measured[] {
  const of = `marts of ${bills.toLocaleString('en-US')} bills`;
  return [
    { what: `${of} in Postgres`, seen: `${onPostgres.built.seconds.toFixed(1)} s`, target: 'under 120 s' },
    { what: 'CPU of it, dbt and Postgres', seen: `${onPostgres.cpuSeconds.toFixed(1)} s` },
    {
      what: `${of} on the lake`,
      seen: `${onLake.built.seconds.toFixed(1)} s`,
      target: 'faster than in Postgres',
    },
    { what: 'CPU of it, dbt with DuckDB', seen: `${onLake.cpuSeconds.toFixed(1)} s` },
    {
      what: 'lake against Postgres',
      seen: ratio(onLake.built.seconds / onPostgres.built.seconds),
      target: 'under 1',
    },
    {
      what: `${of} on the lake, and copied into Postgres`,
      seen: `${both.seconds.toFixed(1)} s`,
      target: 'under 120 s',
    },
    { what: 'CPU of it, dbt with DuckDB, and Postgres', seen: `${both.cpuSeconds.toFixed(1)} s` },
    {
      what: 'the dashboard of them is made in',
      seen: `${dashboard.milliseconds.toFixed(0)} ms`,
      target: 'painted within 1 s',
    },
    { what: 'as one file', seen: `${dashboard.megabytes.toFixed(1)} MB` },
  ];
}

export function buildPlaces(
  settings: BuildPlaces,
  { databaseUrl, lake }: { databaseUrl: string; lake: string },
): MartsPlaces {
  return { ...settings, databaseUrl, lake, iceberg: false, timeZone: 'UTC', sparkMaster: 'local[*]' };
}

export function buildSettings(home: string, onStep: (text: string) => void): BuildPlaces & BuildFollower {
  return {
    home,
    cacheFolder: path.join(process.env.XDG_CACHE_HOME ?? path.join(homedir(), '.cache'), 'daybook'),
    environment: process.env,
    apiAddress: 'bench',
    connections: 10,
    onStep,
  };
}

async function measured(cpu: () => Promise<number>, build: () => Promise<MartsBuilt>): Promise<Build> {
  const before = await cpu();
  const built = await build();
  return { built, cpuSeconds: (await cpu()) - before };
}

async function readPostmasterPid(dataDir: string): Promise<number> {
  return Number((await readFile(path.join(dataDir, 'postmaster.pid'), 'utf8')).split('\n')[0]);
}

export async function exportOnce(input: {
  /** The warehouse that owns the lake. */
  warehouse: Warehouse;
  databaseUrl: string;
  folder: string;
  lake: string;
  /** Whether the snapshot is added to Iceberg tables too. */
  iceberg?: { add: boolean; cacheFolder: string };
}): Promise<void> {
  await runExportProcess(
    {
      databaseUrl: input.databaseUrl,
      databaseConnections: 3,
      lake: input.lake,
      ...(input.iceberg === undefined ? {} : { iceberg: input.iceberg }),
      runId: 'bench',
      scratch: path.join(input.folder, 'scratch'),
      productVersion: 'bench',
      warehouseId: await warehouseId(input.warehouse),
      keep: { last: 1, daily: 0, monthEnds: false },
      snapshotId: snapshotId({ runId: 'bench', startedAt: new Date() }),
    },
    { signal: new AbortController().signal, onProgress: () => undefined },
  );
}

/** Reports the slowest models by dbt's own times, for whoever wants to make them faster. */
export async function reportSlowest(folder: string, progress: (text: string) => void): Promise<void> {
  const target = path.join(folder, 'target');
  const names = existsSync(target) ? await readdir(target, { recursive: true }) : [];
  const file = names.find((name) => path.basename(name) === 'run_results.json');
  if (file === undefined) return;
  const { results } = JSON.parse(await readFile(path.join(target, file), 'utf8')) as {
    results: { unique_id: string; execution_time: number }[];
  };
  const slowest = [...results].sort((a, b) => b.execution_time - a.execution_time).slice(0, 12);
  for (const { unique_id, execution_time } of slowest)
    progress(`${execution_time.toFixed(1)} s ${unique_id.split('.').slice(0, 3).join('.')}`);
}
