import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface AnsweringServer {
  readonly url: string;
  /** Ends the requests that are under way, too. */
  readonly stop: () => void;
}

/** Answers processes of the test run at `url`: 200 with what `answer` returns, 500 with what it throws. */
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
