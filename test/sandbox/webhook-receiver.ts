import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Receives webhooks and keeps them. `answer` returns the status for each, counted from 1, or null for no answer. */
export async function startReceiver(
  answer: (number: number) => number | null = () => 200,
): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      reply(response, answer(received.push({ at: performance.now(), ...read(request, body) })));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    received,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function reply(response: ServerResponse, status: number | null): void {
  if (status !== null) response.writeHead(status).end();
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  return Buffer.concat((await request.toArray()) as Buffer[]);
}

/** Computes the signature independently, from the received bytes (section 6.2). */
function read({ headers }: IncomingMessage, body: Buffer): Omit<Received, 'at'> {
  const right = `sha256=${createHmac('sha256', 'sandbox-secret').update(body).digest('base64')}`;
  const text = body.toString();
  return {
    text,
    json: (text.startsWith('{') ? JSON.parse(text) : {}) as ReceivedJson,
    isSigned: headers['x-service-signature'] === right,
    contentType: headers['content-type'],
  };
}

export interface Receiver {
  readonly address: string;
  readonly received: readonly Received[];
  readonly close: () => Promise<void>;
}

interface Received {
  /** Milliseconds. */
  readonly at: number;
  readonly text: string;
  readonly json: ReceivedJson;
  readonly isSigned: boolean;
  readonly contentType: string | undefined;
}

export interface ReceivedJson {
  readonly type: string;
  readonly code: string;
  readonly [member: string]: unknown;
}
