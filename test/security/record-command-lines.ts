import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { processTable } from '../../embedded/process-table.ts';
import type { Place } from './find-planted.ts';

/** Reads the command lines of all processes, which everybody on the machine can see, until the returned function is called. */
export function recordCommandLines(): () => Promise<Place> {
  const seen = new Set<string>();
  const over = new AbortController();
  const recording = record();
  return async () => {
    over.abort();
    await recording;
    return { name: 'the list of processes', content: [...seen].join('\n') };
  };

  async function record(): Promise<void> {
    while (!over.signal.aborted) {
      for (const commandLine of await commandLines()) seen.add(commandLine);
      await wait(100, undefined, { signal: over.signal }).catch(() => undefined);
    }
  }
}

/** Reads all of them ten times a second. On Linux it reads the files of /proc, which costs a tenth. */
async function commandLines(): Promise<readonly string[]> {
  if (process.platform !== 'linux') return (await processTable()).map(({ commandLine }) => commandLine);
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    } catch {
      // It has ended meanwhile, or is hidden from us.
      return '';
    }
  });
}
