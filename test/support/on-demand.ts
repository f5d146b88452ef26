import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/**
 * Answers processes of the test run at `url`, by path: what few test files need starts when the first of them asks for it. The paths are of
 * the caller's choice.
 */
export async function answerOnDemand(answer: (path: string) => Promise<string>): Promise<OnDemand> {
  const server = createServer(({ url = '' }, response) => {
    answer(url).then(
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
      return Promise.resolve();
    },
  };
}

export interface OnDemand {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

export async function askOnDemand(url: string, path: string): Promise<string> {
  // Where a program has to be built first, the answer takes longer than fetch waits.
  const [response] = (await once(get(new URL(path, url)), 'response')) as [IncomingMessage];
  const answer = await text(response);
  if (response.statusCode !== 200) throw new Error(`The server for tests did not start: ${answer}`);
  return answer;
}
