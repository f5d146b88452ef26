import { readdir, readFile, readlink } from 'node:fs/promises';
import { processTable } from '../../embedded/process-table.ts';

/** The TCP ports on which the one process with this text in its command line listens. Linux only. */
export async function listeningPorts(text: string): Promise<number[]> {
  const [found] = (await processTable()).filter(({ commandLine }) => commandLine.includes(text));
  if (found === undefined) throw new Error('No such process runs.');
  const folder = `/proc/${found.pid}/fd`;
  const links = await Promise.all(
    (await readdir(folder)).map((fd) => readlink(`${folder}/${fd}`).catch(() => '')),
  );
  const table = await readFile('/proc/net/tcp', 'utf8');
  return table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === '0A' && links.includes(`socket:[${inode ?? ''}]`))
    .map(([, local = '']) => parseInt(local.split(':')[1] ?? '', 16));
}
