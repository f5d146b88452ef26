import {
  createServer,
  request,
  type ClientRequest,
  type RequestOptions,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { deletedBut } from './deleted-but.ts';

export interface RefusingProxy {
  /** What is opened meanwhile reaches the server through the proxy. */
  readonly address: string;
  readonly use: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/**
 * Passes requests on to a server that speaks S3, and answers each removal as S3 does of objects that it may not remove: of any, or of those
 * whose key has one of these parts.
 */
export async function startRefusingProxy(
  target: string,
  code: string,
  parts: readonly string[] = [''],
): Promise<RefusingProxy> {
  const server = createServer((incoming, outgoing) => {
    const url = new URL(incoming.url ?? '', target);
    const { method = 'GET', headers } = incoming;
    if (method === 'POST' && url.searchParams.has('delete')) {
      void text(incoming).then((asked) => {
        const keys = [...asked.matchAll(/<Key>([^<]*)</g)].map(([, key = '']) => key);
        const kept = keys.filter((key) => parts.some((part) => key.includes(part)));
        if (kept.length > 0) outgoing.end(deletedBut(kept, code));
        else pass(url, { method, headers }, outgoing).end(asked);
      });
      return;
    }
    incoming.pipe(pass(url, { method, headers }, outgoing));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    address,
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

function pass(url: URL, options: RequestOptions, outgoing: ServerResponse): ClientRequest {
  return request(url, options, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(outgoing);
  });
}
