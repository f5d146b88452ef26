import { createReadStream } from 'node:fs';
import { mkdir, open, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';

/** Opens a server's log for appending. A log that has grown large is renamed to `<file>.1` first. */
export async function openLog(file: string): Promise<ServerLog> {
  await mkdir(dirname(file), { recursive: true });
  const handle = await openRotated(file);
  const { size } = await handle.stat();
  return {
    file,
    fd: handle.fd,
    lastLines: () => lastLines(file, size),
    close: () => handle.close(),
  };
}

export interface ServerLog {
  readonly file: string;
  readonly fd: number;
  /** Returns the last lines written since this start, for an error message. */
  readonly lastLines: () => Promise<string>;
  readonly close: () => Promise<void>;
}

const largeBytes = 10 << 20;
const linesInAnError = 15;

async function openRotated(file: string): Promise<Awaited<ReturnType<typeof open>>> {
  const handle = await open(file, 'a', 0o600);
  if ((await handle.stat()).size < largeBytes) return handle;
  await handle.close();
  await rename(file, `${file}.1`);
  return open(file, 'a', 0o600);
}

async function lastLines(file: string, from: number): Promise<string> {
  const tail = Math.max(from, (await stat(file)).size - 64 * 1024);
  const lines: string[] = [];
  for await (const line of createInterface({ input: createReadStream(file, { start: tail }) })) {
    lines.push(line);
    if (lines.length > linesInAnError) lines.shift();
  }
  return lines.join('\n');
}
