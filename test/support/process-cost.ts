import { readFile, readdir, writeFile } from 'node:fs/promises';

/** CPU seconds that a process has used; `withEnded` adds its ended children. Reads /proc, so works on Linux only. */
export async function readCpuSeconds(pid: number, { withEnded }: { withEnded: boolean }): Promise<number> {
  const fields = await readStat(pid);
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15).map(Number);
  return (user + system + (withEnded ? endedUser + endedSystem : 0)) / ticksPerSecond;
}

/** CPU seconds of a Postgres server, over processes that run and that have ended. */
export async function postgresCpuSeconds(postmaster: number): Promise<number> {
  const own = await readCpuSeconds(postmaster, { withEnded: true });
  const children = await findChildren(postmaster);
  const running = await Promise.all(
    children.map((pid) => readCpuSeconds(pid, { withEnded: false }).catch(() => 0)),
  );
  return running.reduce((sum, seconds) => sum + seconds, own);
}

/** The peak memory of the process, in MB. */
export async function peakMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024;
}

/** Resets the peak that `peakMegabytes` reads. */
export async function resetPeak(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, '5');
}

/** The value of `getconf CLK_TCK` on every Linux. */
const ticksPerSecond = 100;

async function readStat(pid: number): Promise<string[]> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The second field is the command in parentheses, which may contain spaces.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

async function findChildren(parent: number): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const parents = await Promise.all(
    pids.map(async (pid) => Number((await readStat(pid).catch(() => []))[1])),
  );
  return pids.filter((_, index) => parents[index] === parent);
}
