import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { startAnswering, type AnsweringServer } from './answering-server.ts';

/** Answers processes of the test run at `url`, by a path of the caller's choice. Servers that few test files need start with the first request. */
export function answerOnDemand(answer: (path: string) => Promise<string>): Promise<AnsweringServer> {
  return startAnswering(({ url = '' }) => answer(url));
}

export interface OnDemand {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

export async function askOnDemand(url: string, path: string): Promise<string> {
  // The answer may take longer than fetch waits, if a program has to be built first.
  const [response] = (await once(get(new URL(path, url)), 'response')) as [IncomingMessage];
  const answer = await text(response);
  if (response.statusCode !== 200) throw new Error(`The server for tests did not start: ${answer}`);
  return answer;
}
