import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface AnsweringServer {
  readonly url: string;
  /** Also ends the requests that are under way. */
  readonly stop: () => void;
}

/** Starts an HTTP server for processes of the test run: 200 with what `answer` returns, 500 with what it throws. */
export async function startAnswering(
  answer: (request: IncomingMessage) => Promise<string>,
): Promise<AnsweringServer> {
  const server = createServer((request, response) => {
    answer(request).then(
      (said) => response.end(said),
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
