import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { startAnswering, type AnsweringServer } from './answering-server.ts';

/**
 * Answers processes of the test run at `url`, by path: what few test files need starts when the first of them asks for it. The paths are of
 * the caller's choice.
 */
export function answerOnDemand(answer: (path: string) => Promise<string>): Promise<AnsweringServer> {
  return startAnswering(({ url = '' }) => answer(url));
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
