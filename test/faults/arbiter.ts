import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** A process is about to commit, or has committed and does not act on it yet. */
export interface Passing {
  /** The product's file that commits. */
  readonly point: string;
  readonly side: 'before' | 'after';
  readonly pid: number;
  readonly ppid: number;
}

/** Where processes ask at each of their commits; they wait until `decide` is done. */
export async function startArbiter(decide: (passing: Passing) => Promise<void>): Promise<Arbiter> {
  const server = createServer((request, response) => {
    json(request)
      .then((passing) => decide(passing as Passing))
      .then(
        () => response.end(),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

export interface Arbiter {
  readonly url: string;
  readonly stop: () => void;
}
