import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { AlertMessage } from '../../worker/alerts/alert-message.ts';

/** Starts a receiver of alerts on a port of its own, until the test is over. */
export async function startReceiver({ port = 0 }: { port?: number } = {}): Promise<AlertReceiver> {
  const received: Received[] = [];
  const receiver: Mutable = { answer: 200, received };
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      received.push({
        ...(JSON.parse(body) as AlertMessage),
        headers: request.headers,
        path: request.url ?? '',
      });
      server.emit('received');
      if (receiver.answer !== 'nothing') response.writeHead(receiver.answer).end();
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  onTestFinished(close);
  const address = server.address() as AddressInfo;
  return Object.assign(receiver, {
    port: address.port,
    url: `http://127.0.0.1:${address.port}/hook/planted-alert-secret`,
    close,
    async gets(count: number) {
      while (received.length < count) await once(server, 'received');
      return received.slice(0, count);
    },
  });
}

export type Received = AlertMessage & { headers: IncomingHttpHeaders; path: string };

interface Mutable {
  /** The status of its answers, or `nothing` to leave requests open. */
  answer: number | 'nothing';
  readonly received: Received[];
}

export interface AlertReceiver extends Mutable {
  readonly port: number;
  readonly url: string;
  readonly close: () => Promise<void>;
  /** Resolves with the first so many messages once they have arrived. */
  readonly gets: (count: number) => Promise<Received[]>;
}
