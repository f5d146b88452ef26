import { setTimeout as wait } from 'node:timers/promises';
import { openWarehouse } from '../warehouse/open-warehouse.ts';
import { addBenchConnections, syncBills } from './bench-connection.ts';
import { startBenchServers, type BenchServers } from './bench-servers.ts';
import { migrateDatabase } from './initial.ts';
import type { Measured } from './measured.ts';
import { peakMegabytes } from './process-cost.ts';

/** What the worker's own metrics said when so many bills were stored. */
interface Sample {
  bills: number;
  pages: number;
  landingSeconds: number;
  peakMegabytes: number;
}

/** Loads bills end to end, and compares pages around 10,000 stored bills with the last ones. */
export async function measureGrowth(
  { bills }: { bills: number },
  progress: (text: string) => void,
): Promise<Measured[]> {
  const servers = await startBenchServers(migrateDatabase);
  const warehouse = openWarehouse({ url: servers.databaseUrl, connections: 2 });
  try {
    await addBenchConnections(warehouse, servers, { names: ['one'], bills });
    const samples: Sample[] = [];
    const over = new AbortController();
    const sampling = sample(servers, over.signal, (taken) => {
      samples.push(taken);
      if (samples.length % 20 === 0) progress(`${taken.bills.toLocaleString('en-US')} bills`);
    });
    await syncBills(servers, ['one']);
    over.abort();
    await sampling;
    samples.push(await sampleOf(servers));
    return figuresOf(samples, bills);
  } finally {
    await warehouse.close();
    await servers.stop();
  }
}

async function sample(
  servers: BenchServers,
  over: AbortSignal,
  take: (sample: Sample) => void,
): Promise<void> {
  while (!over.aborted) {
    take(await sampleOf(servers));
    await wait(500, undefined, { signal: over }).catch(() => undefined);
  }
}

async function sampleOf(servers: BenchServers): Promise<Sample> {
  const text = await (await fetch(`${servers.workerUrl}/metrics`)).text();
  const pages = metric(text, 'daybook_page_landing_seconds_count{stream="bills"}');
  return {
    bills: pages * 500,
    pages,
    landingSeconds: metric(text, 'daybook_page_landing_seconds_sum{stream="bills"}'),
    peakMegabytes: await peakMegabytes(servers.worker.pid),
  };
}

function metric(text: string, name: string): number {
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1) ?? 0);
}

function figuresOf(samples: readonly Sample[], bills: number): Measured[] {
  const early = between(samples, 10_000, 60_000);
  const late = between(samples, bills - 50_000, bills);
  const small = samples.find((taken) => taken.bills >= Math.min(100_000, bills))?.peakMegabytes ?? 0;
  const large = samples.at(-1)?.peakMegabytes ?? 0;
  const percent = (a: number, b: number): string => `${((b / a - 1) * 100).toFixed(0)} %`;
  return [
    { what: 'a page lands in, from 10,000 stored bills', seen: `${(early * 1000).toFixed(1)} ms` },
    {
      what: `a page lands in, at ${bills.toLocaleString('en-US')} stored bills`,
      seen: `${(late * 1000).toFixed(1)} ms`,
    },
    { what: 'growth of a page', seen: percent(early, late), target: 'under 20 %' },
    { what: 'peak memory of the worker at 100,000 bills', seen: `${small.toFixed(0)} MB` },
    { what: 'peak memory of the worker at the end', seen: `${large.toFixed(0)} MB`, target: 'under 400 MB' },
    { what: 'growth of the memory', seen: percent(small, large), target: 'under 10 %' },
  ];
}

/** Seconds from the prepared page to its commit, on average between two numbers of stored bills. */
function between(samples: readonly Sample[], from: number, to: number): number {
  const first = samples.find((taken) => taken.bills >= from);
  const last = samples.findLast((taken) => taken.bills <= to);
  if (first === undefined || last === undefined || last.pages === first.pages) return Number.NaN;
  return (last.landingSeconds - first.landingSeconds) / (last.pages - first.pages);
}
