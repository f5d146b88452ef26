import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

/** A process as Linux shows it to others (command line, name) and to its owner (environment, core dump limits). */
export interface Descendant {
  readonly commandLine: string;
  readonly name: string;
  readonly environment: string;
  /** The size limit of a core dump, and which memory it includes: `0 00000000` is none. */
  readonly dumped: string;
}

/**
 * Looks at every descendant of the ancestors, again and again until the returned function is called. A process that changes its title is
 * listed with each.
 */
export function recordDescendants(ancestors: ReadonlySet<number>): () => Promise<Descendant[]> {
  const seen = new Map<string, Descendant>();
  const over = new AbortController();
  const recording = record();
  return async () => {
    over.abort();
    await recording;
    return [...seen.values()];
  };

  async function record(): Promise<void> {
    while (!over.signal.aborted) {
      const ours = await Promise.all([...ancestors].map(look));
      for (const pid of await findDescendants(ancestors)) {
        const found = await look(pid);
        // A forked process is for a moment a copy of ours, before it executes its program.
        const isCopy = ours.some((one) => one?.commandLine === found?.commandLine);
        if (found !== undefined && !isCopy) seen.set(`${pid} ${JSON.stringify(found)}`, found);
      }
      await wait(100, undefined, { signal: over.signal }).catch(() => undefined);
    }
  }
}

async function findDescendants(ancestors: ReadonlySet<number>): Promise<number[]> {
  const parents = await readParents();
  const descends = (pid: number): boolean => {
    const parent = parents.get(pid);
    return parent !== undefined && parent > 0 && (ancestors.has(parent) || descends(parent));
  };
  return [...parents.keys()].filter(descends);
}

async function readParents(): Promise<Map<number, number>> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const entries = await Promise.all(
    pids.map(async (pid) => {
      const stat = await read(pid, 'stat');
      // proc(5): the name may contain spaces and parentheses; state and parent follow it.
      return [Number(pid), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0)] as const;
    }),
  );
  return new Map(entries);
}

/** Undefined if the process has ended or shows nothing. */
async function look(pid: number): Promise<Descendant | undefined> {
  const [commandLine, name, environment, filter, limits] = await Promise.all(
    ['cmdline', 'comm', 'environ', 'coredump_filter', 'limits'].map((file) => read(String(pid), file)),
  );
  if (!commandLine || !limits || !filter) return undefined;
  const [, limit = ''] = /^Max core file size +(\S+)/m.exec(limits) ?? [];
  return {
    commandLine: commandLine.replaceAll('\0', ' ').trim(),
    name: (name ?? '').trim(),
    environment: (environment ?? '').replaceAll('\0', '\n'),
    dumped: `${limit} ${filter.trim()}`,
  };
}

/** Empty if the process has ended meanwhile. */
async function read(pid: string, file: string): Promise<string> {
  return readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
}
