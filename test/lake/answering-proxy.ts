import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface AnsweringProxy {
  readonly address: string;
  /** What first asks the server meanwhile does so through the proxy. */
  readonly use: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/** Passes requests on to a server that speaks S3, but for those that it answers by itself. */
export async function startAnsweringProxy(
  target: string,
  answerTo: (method: string, url: URL) => Answer | undefined,
): Promise<AnsweringProxy> {
  const server = createServer((incoming, outgoing) => {
    const url = new URL(incoming.url ?? '', target);
    const { method = 'GET', headers } = incoming;
    const answer = answerTo(method, url);
    if (answer !== undefined) {
      incoming
        .resume()
        .on('end', () => outgoing.writeHead(answer.status, { ...answer.headers }).end(answer.body));
      return;
    }
    const onward = request(url, { method, headers }, (answered) => {
      outgoing.writeHead(answered.statusCode ?? 500, answered.headers);
      answered.pipe(outgoing);
    });
    incoming.pipe(onward);
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
