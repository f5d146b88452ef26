import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

export interface AnsweringProxy {
  /** What is opened meanwhile reaches the server through the proxy. */
  readonly use: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/** Passes requests on to a server that speaks S3, and has listings told in other words, or removals answered without the server. */
export async function startAnsweringProxy(
  target: string,
  {
    listing = (answer) => answer,
    deletion,
  }: { listing?: (answer: string) => string; deletion?: (keys: readonly string[]) => string },
): Promise<AnsweringProxy> {
  const server = createServer((incoming, outgoing) => {
    const url = new URL(incoming.url ?? '', target);
    const { method = 'GET', headers } = incoming;
    if (deletion !== undefined && method === 'POST' && url.searchParams.has('delete')) {
      void text(incoming).then((asked) => {
        outgoing.end(deletion([...asked.matchAll(/<Key>([^<]*)</g)].map(([, key = '']) => key)));
      });
      return;
    }
    const onward = request(url, { method, headers }, (answer) => {
      const { statusCode = 500 } = answer;
      if (url.searchParams.has('list-type')) {
        void text(answer).then((said) => outgoing.writeHead(statusCode).end(listing(said)));
        return;
      }
      outgoing.writeHead(statusCode, answer.headers);
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
