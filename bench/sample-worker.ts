import { setTimeout as wait } from 'node:timers/promises';
import type { BenchServers } from './bench-servers.ts';
import { peakMegabytes } from '../test/support/process-cost.ts';

/** The worker's own metrics at one number of landed bills. */
export interface Sample {
  readonly bills: number;
  readonly pages: number;
  readonly landingSeconds: number;
  readonly peakMegabytes: number;
}

/** Samples the worker every half second while it works, and once more at the end. */
export async function sampleWorker<Result>(
  servers: BenchServers,
  work: () => Promise<Result>,
  progress: (text: string) => void,
): Promise<{ result: Result; samples: Sample[] }> {
  const samples: Sample[] = [];
  const over = new AbortController();
  const sampling = sampleUntil(over.signal, async () => {
    const sample = await takeSample(servers);
    samples.push(sample);
    if (samples.length % 20 === 0) progress(`${sample.bills.toLocaleString('en-US')} bills`);
  });
  const result = await work().finally(() => {
    over.abort();
  });
  await sampling;
  samples.push(await takeSample(servers));
  return { result, samples };
}

/** Returns the worker's peak memory at a number of landed bills. */
export function peakAt(samples: readonly Sample[], bills: number): number {
  return samples.find((sample) => sample.bills >= bills)?.peakMegabytes ?? Number.NaN;
}

async function sampleUntil(over: AbortSignal, take: () => Promise<void>): Promise<void> {
  while (!over.aborted) {
    await take();
    await wait(500, undefined, { signal: over }).catch(() => undefined);
  }
}

async function takeSample(servers: BenchServers): Promise<Sample> {
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
