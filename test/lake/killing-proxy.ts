import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface KillingProxy {
  readonly address: string;
  readonly close: () => void;
}

/**
 * Passes requests on to a server, until one writes to a path with this end. Then it calls `kill`, before it passes the request on or after
 * the server has carried it out, and answers no request any more.
 */
export async function startKillingProxy(
  target: string,
  { path, when, kill }: { path: string; when: 'before' | 'after'; kill: () => void },
): Promise<KillingProxy> {
  let isOver = false;
  const server = createServer((incoming, outgoing) => {
    const isMeant = incoming.method === 'PUT' && new URL(incoming.url ?? '', target).pathname.endsWith(path);
    if (isOver || (isMeant && when === 'before')) {
      end();
      return;
    }
    passOn(target, incoming, (answer) => {
      if (isMeant) {
        end();
        return;
      }
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
  });
  function end(): void {
    isOver = true;
    kill();
    server.closeAllConnections();
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function passOn(
  target: string,
  incoming: IncomingMessage,
  onAnswer: (answer: IncomingMessage) => void,
): void {
  const { method = 'GET', headers } = incoming;
  const onward = request(new URL(incoming.url ?? '', target), { method, headers }, onAnswer);
  // A client that was killed in the middle of a request sends no more of it.
  onward.on('error', () => undefined);
  incoming.on('error', () => onward.destroy());
  incoming.pipe(onward);
}
