import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Home } from '../../embedded/home.ts';
import { processIdentity } from '../../embedded/process-identity.ts';
import { processTable } from '../../embedded/process-table.ts';
import { eventually } from '../support/eventually.ts';

/** Kills a server of that home without warning, with all its processes, and resolves once none of them is left. */
export async function killServer(server: 'Postgres' | 'Temporal', home: Home): Promise<void> {
  const pids = await serverPids(server, home);
  for (const pid of pids) killIfThere(pid);
  await eventually(async () => {
    const left = await Promise.all(pids.map((pid) => processIdentity(pid)));
    return left.every((identity) => identity === undefined) ? 'gone' : undefined;
  });
}

/** The ids of the server's processes, the parent first. */
export async function serverPids(server: 'Postgres' | 'Temporal', home: Home): Promise<number[]> {
  return server === 'Postgres' ? postgresPids(home) : temporalPids(home);
}

async function postgresPids({ postgresData }: Home): Promise<number[]> {
  const postmaster = Number.parseInt(await readFile(join(postgresData, 'postmaster.pid'), 'utf8'), 10);
  const children = await readFile(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8');
  return [postmaster, ...children.trim().split(' ').map(Number)];
}

async function temporalPids({ temporalDatabase }: Home): Promise<number[]> {
  const table = await processTable();
  return table
    .filter(({ commandLine }) => commandLine.includes(`server start-dev --db-filename ${temporalDatabase}`))
    .map(({ pid }) => pid);
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // Children of the postmaster come and go.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
