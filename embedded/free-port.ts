import { createServer } from 'node:net';
import getPort from 'get-port';

/** The preferred port when nobody has it, otherwise any free one. */
export async function freePort(preferred?: number): Promise<number> {
  // get-port would not do for the preferred one: it refuses for 15 s a port that it gave out before, so a restart moved.
  return preferred !== undefined && (await isFreePort(preferred)) ? preferred : getPort();
}

/** Asks for every address and for loopback: macOS lets one of them be bound while the other is taken. */
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
