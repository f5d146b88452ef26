import { join } from 'node:path';
import { readFileIfThere } from './read-file-if-there.ts';

/**
 * Whether this very process serves the data folder on that port and accepts connections. It reads `postmaster.pid`, which nobody else can
 * write. An answer on the port proves nothing: anybody on the machine can take the port first.
 */
export async function isPostmasterReady(
  dataDir: string,
  { pid, port }: { readonly pid: number | undefined; readonly port: number },
): Promise<boolean> {
  const text = await readFileIfThere(join(dataDir, 'postmaster.pid'));
  const said = text?.split('\n').map((line) => line.trim());
  return (
    said?.[line.pid] === String(pid) && said[line.port] === String(port) && said[line.status] === 'ready'
  );
}

/** Line numbers from Postgres's `utils/pidfile.h`, counted from 0. Postgres binds its port before it writes `ready`. */
const line = { pid: 0, port: 3, status: 7 };
