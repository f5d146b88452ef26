import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { codeOf } from '../errors/code-of.ts';
import { readFileIfThere } from './read-file-if-there.ts';

/**
 * Returns what distinguishes a process from a later one with the same pid: its start time and its boot.
 * Undefined if no such process runs (a zombie does not run).
 */
export async function processIdentity(pid: number): Promise<string | undefined> {
  return process.platform === 'linux' ? linuxIdentity(pid) : psIdentity(pid);
}

async function linuxIdentity(pid: number): Promise<string | undefined> {
  const stat = await readStat(pid);
  if (stat === undefined) return undefined;
  // proc(5): `pid (name) state …`; the start time in clock ticks since boot is field 22. The name may contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
  return `${boot.trim()}/${fields[19] ?? ''}`;
}

async function readStat(pid: number): Promise<string | undefined> {
  try {
    return await readFileIfThere(`/proc/${pid}/stat`);
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return undefined; // It ended while its entry was being read.
    throw error;
  }
}

async function psIdentity(pid: number): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)('ps', ['-p', String(pid), '-o', 'stat=,lstart=']);
    const [state, ...started] = stdout.trim().split(/\s+/);
    return state === undefined || state.startsWith('Z') ? undefined : started.join(' ');
  } catch (error) {
    if (codeOf(error) === 1) return undefined; // ps found no such process.
    throw error;
  }
}
