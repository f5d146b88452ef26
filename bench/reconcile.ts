import { openWarehouse } from '../warehouse/open-warehouse.ts';
import { addBenchConnections, reconcileBills, syncBills } from './bench-connection.ts';
import { startBenchServers } from './bench-servers.ts';
import { migrateDatabase } from './initial.ts';
import { growth, perSecond, ratio, type Measured } from './measured.ts';
import { resetPeak } from '../test/support/process-cost.ts';
import { peakAt, sampleWorker } from './sample-worker.ts';

/** Loads bills and reconciles them unchanged. Measures the speed, compared with the load, and the memory. */
export async function measureReconcile(
  { bills }: { bills: number },
  progress: (text: string) => void,
): Promise<Measured[]> {
  const servers = await startBenchServers(migrateDatabase);
  const warehouse = openWarehouse({ url: servers.databaseUrl, connections: 2 });
  try {
    await addBenchConnections(warehouse, servers, { names: ['one'], bills });
    progress('initial sync');
    const loading = await syncBills(servers, ['one']);
    await resetPeak(servers.worker.pid);
    progress('reconcile');
    const { result: seconds, samples } = await sampleWorker(
      servers,
      () => reconcileBills(servers, 'one'),
      progress,
    );
    // The worker's count already includes the bills of the initial sync.
    const small = peakAt(samples, bills + Math.min(100_000, bills));
    const large = samples.at(-1)?.peakMegabytes ?? Number.NaN;
    return [
      { what: 'initial sync', seen: perSecond(bills, loading) },
      { what: 'reconcile of unchanged bills', seen: perSecond(bills, seconds) },
      { what: 'reconcile / initial sync', seen: ratio(loading / seconds), target: 'at least 0.60' },
      { what: 'peak memory of the worker at 100,000 bills', seen: `${small.toFixed(0)} MB` },
      {
        what: 'peak memory of the worker at the end',
        seen: `${large.toFixed(0)} MB`,
        target: 'under 400 MB',
      },
      { what: 'growth of the memory', seen: growth(small, large), target: 'under 10 %' },
    ];
  } finally {
    await warehouse.close();
    await servers.stop();
  }
}
