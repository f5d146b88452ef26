import { execFile } from 'node:child_process';
import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { codeOf } from '../errors/code-of.ts';
import { workingFolder } from './postgres-account.ts';

/**
 * Lists every process that this user may see, with its command line, words separated by one space. A word that is the name of the
 * working folder is replaced by the real path.
 */
export async function processTable(): Promise<ProcessEntry[]> {
  return process.platform === 'linux' ? linuxTable() : psTable();
}

export interface ProcessEntry {
  readonly pid: number;
  /** The user that the process runs as. */
  readonly uid: number;
  readonly commandLine: string;
}

/** Reads /proc, because slim container images have no `ps`. */
async function linuxTable(): Promise<ProcessEntry[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const entries = await Promise.all(pids.map(readCommandLine));
  return entries.filter((entry) => entry !== undefined);
}

async function readCommandLine(pid: number): Promise<ProcessEntry | undefined> {
  try {
    const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0');
    const at = words.indexOf(workingFolder);
    if (at >= 0) words[at] = await readlink(`/proc/${pid}/cwd`);
    const { uid } = await stat(`/proc/${pid}`);
    return { pid, uid, commandLine: words.join(' ').trim() };
  } catch (error) {
    // The process has ended, or its owner's processes are hidden from us.
    if (['ENOENT', 'ESRCH', 'EACCES'].includes(String(codeOf(error)))) {
      return undefined;
    }
    throw error;
  }
}

async function psTable(): Promise<ProcessEntry[]> {
  const { stdout } = await promisify(execFile)('ps', ['-axww', '-o', 'pid=,uid=,command='], {
    maxBuffer: 64 << 20,
  });
  return stdout
    .split('\n')
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .filter((match) => match !== null)
    .map(([, pid, uid, commandLine]) => ({
      pid: Number(pid),
      uid: Number(uid),
      commandLine: commandLine ?? '',
    }));
}
