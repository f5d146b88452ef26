import { join } from 'node:path';
import { readFileIfThere } from './read-file-if-there.ts';

/**
 * Whether this very process serves the data folder on that port and takes connections, as it says itself in `postmaster.pid`, which
 * nobody else can write. That something answers on the port says nothing: everybody on the machine can take it first.
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

/** Of Postgres's `utils/pidfile.h`, from 0. It binds its port before it writes `ready`. */
const line = { pid: 0, port: 3, status: 7 };
