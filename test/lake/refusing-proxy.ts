import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { deletedBut } from './deleted-but.ts';

export interface RefusingProxy {
  /** What is opened meanwhile reaches the server through the proxy. */
  readonly use: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/** Passes requests on to a server that speaks S3, and answers each removal as S3 does of objects that it may not remove. */
export async function startRefusingProxy(target: string, code: string): Promise<RefusingProxy> {
  const server = createServer((incoming, outgoing) => {
    const url = new URL(incoming.url ?? '', target);
    const { method = 'GET', headers } = incoming;
    if (method === 'POST' && url.searchParams.has('delete')) {
      void text(incoming).then((asked) => {
        const keys = [...asked.matchAll(/<Key>([^<]*)</g)].map(([, key = '']) => key);
        outgoing.end(deletedBut(keys, code));
      });
      return;
    }
    const onward = request(url, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    async use(work) {
      process.env.AWS_ENDPOINT_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      try {
        return await work();
      } finally {
        process.env.AWS_ENDPOINT_URL = target;
      }
    },
  };
}
