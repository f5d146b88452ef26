import { openWarehouse } from '../warehouse/open-warehouse.ts';
import { addBenchConnections, syncBills } from './bench-connection.ts';
import { startBenchServers } from './bench-servers.ts';
import { migrateDatabase } from './initial.ts';
import { growth, type Measured } from './measured.ts';
import { peakAt, sampleWorker, type Sample } from './sample-worker.ts';

/** Loads bills end to end, and compares pages around 10,000 stored bills with the last ones. */
export async function measureGrowth(
  { bills }: { bills: number },
  progress: (text: string) => void,
): Promise<Measured[]> {
  const servers = await startBenchServers(migrateDatabase);
  const warehouse = openWarehouse({ url: servers.databaseUrl, connections: 2 });
  try {
    await addBenchConnections(warehouse, servers, { names: ['one'], bills });
    const { samples } = await sampleWorker(servers, () => syncBills(servers, ['one']), progress);
    return summarizeSamples(samples, bills);
  } finally {
    await warehouse.close();
    await servers.stop();
  }
}

function summarizeSamples(samples: readonly Sample[], bills: number): Measured[] {
  const early = between(samples, 10_000, 60_000);
  const late = between(samples, bills - 50_000, bills);
  const small = peakAt(samples, Math.min(100_000, bills));
  const large = samples.at(-1)?.peakMegabytes ?? 0;
  return [
    { what: 'a page lands in, from 10,000 stored bills', seen: `${(early * 1000).toFixed(1)} ms` },
    {
      what: `a page lands in, at ${bills.toLocaleString('en-US')} stored bills`,
      seen: `${(late * 1000).toFixed(1)} ms`,
    },
    { what: 'growth of a page', seen: growth(early, late), target: 'under 20 %' },
    { what: 'peak memory of the worker at 100,000 bills', seen: `${small.toFixed(0)} MB` },
    { what: 'peak memory of the worker at the end', seen: `${large.toFixed(0)} MB`, target: 'under 400 MB' },
    { what: 'growth of the memory', seen: growth(small, large), target: 'under 10 %' },
  ];
}

/** The average seconds from the prepared page to its commit, between two numbers of stored bills. */
function between(samples: readonly Sample[], from: number, to: number): number {
  const first = samples.find((taken) => taken.bills >= from);
  const last = samples.findLast((taken) => taken.bills <= to);
  if (first === undefined || last === undefined || last.pages === first.pages) return Number.NaN;
  return (last.landingSeconds - first.landingSeconds) / (last.pages - first.pages);
}
