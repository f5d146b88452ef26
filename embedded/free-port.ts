import { createServer } from 'node:net';
import getPort from 'get-port';

/** Returns the preferred port if it is free, otherwise any free one, but never `except`. */
export async function freePort(preferred?: number, { except }: { except?: number } = {}): Promise<number> {
  // get-port is not used for the preferred port: it refuses a port for 15 s after handing it out, so a restart would move.
  if (preferred !== undefined && preferred !== except && (await isFreePort(preferred))) return preferred;
  const port = await getPort();
  // For the same reason, it hands out another one now.
  return port === except ? getPort() : port;
}

/** Checks all addresses and loopback: macOS lets one of them be bound while the other is taken. */
export async function isFreePort(port: number): Promise<boolean> {
  return (await canListen(port, undefined)) && (await canListen(port, '127.0.0.1'));
}

function canListen(port: number, host: string | undefined): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(false);
      else reject(error);
    });
    server.listen({ port, host }, () => {
      server.close(() => {
        resolve(true);
      });
    });
  });
}
