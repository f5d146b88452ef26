import {
  createServer,
  request,
  type ClientRequest,
  type RequestListener,
  type RequestOptions,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface S3Proxy {
  readonly address: string;
  /** Clients opened during `work` reach the server through the proxy. */
  readonly use: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/** A proxy of an S3 server that runs until the test ends. `listener` answers each request, or passes it on. */
export async function startS3Proxy(target: string, listener: RequestListener): Promise<S3Proxy> {
  const server = createServer(listener);
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

/** Opens a request to the server, whose body the caller writes. Passes its answer on. */
export function pass(url: URL, options: RequestOptions, outgoing: ServerResponse): ClientRequest {
  return request(url, options, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(outgoing);
  });
}
