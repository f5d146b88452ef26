import { EventEmitter, once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface HoldingProxy {
  /** What is opened meanwhile reaches the server through the proxy. */
  readonly use: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /** When the first request is held. */
  readonly holds: Promise<unknown>;
  /** Passes on what was held, and holds nothing more. */
  readonly release: () => unknown;
}

/** Passes requests on to a server, but holds those that write to such a path, as a host that stands still does before it has sent them. */
export async function startHoldingProxy(target: string, path: RegExp): Promise<HoldingProxy> {
  const events = new EventEmitter();
  const [holds, released] = [once(events, 'held'), once(events, 'released')];
  const server = createServer((incoming, outgoing) => {
    const url = new URL(incoming.url ?? '', target);
    const pass = (): void => {
      const { method, headers } = incoming;
      const onward = request(url, { method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
      });
      onward.on('error', () => outgoing.destroy());
      incoming.pipe(onward);
    };
    if (incoming.method !== 'PUT' || !path.test(url.pathname)) {
      pass();
      return;
    }
    events.emit('held');
    void released.then(pass);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    holds,
    release: () => events.emit('released'),
    async use(work) {
      process.env.AWS_ENDPOINT_URL = address;
      try {
        return await work();
      } finally {
        process.env.AWS_ENDPOINT_URL = target;
      }
    },
  };
}
