import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import getPort from 'get-port';
import { startPostgres } from '../embedded/postgres.ts';
import { buildTarget } from '../marts/build-target.ts';
import { pythonWithDbt } from '../marts/python-with-dbt.ts';
import { openWarehouse } from '../warehouse/open-warehouse.ts';
import { fillGroups } from '../test/support/fill-groups.ts';
import { migrateDatabase } from './initial.ts';
import { exportOnce, buildPlaces, buildSettings, reportSlowest } from './marts.ts';
import type { Measured } from './measured.ts';

/** Builds the marts of large groups of similar records. If twice as many records take four times as long, a model compares each with each. */
export async function measureGroups(
  { records, shapes }: { records: number; shapes?: readonly string[] },
  progress: (text: string) => void,
): Promise<Measured[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'daybook-bench-'));
  const postgres = await startPostgres({ dataDir: path.join(folder, 'postgres'), port: await getPort() });
  const settings = buildSettings(folder, progress);
  const lake = path.join(folder, 'lake');
  try {
    await migrateDatabase(postgres.url);
    await fillGroups(postgres.url, { records, ...(shapes !== undefined && { shapes }) });
    await pythonWithDbt(settings);
    const places = buildPlaces(settings, { databaseUrl: postgres.url, lake });
    const warehouse = openWarehouse({ url: postgres.url, connections: 2 });
    const seconds: Record<string, number> = {};
    for (const target of ['postgres', 'lake'] as const) {
      if (target === 'lake') await exportOnce({ warehouse, databaseUrl: postgres.url, folder, lake });
      const run = { workflowId: '', temporalRunId: '', reason: 'bench', runId: target, target };
      const built = await buildTarget({ warehouse, places }, run, settings);
      seconds[target] = built.seconds;
      await reportSlowest(path.join(folder, 'dbt', target), progress);
    }
    await warehouse.close();
    return Object.entries(seconds).map(([target, taken]) => ({
      what: `marts of groups of ${records.toLocaleString('en-US')} (${target})`,
      seen: `${taken.toFixed(1)} s`,
    }));
  } finally {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
