import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { inject } from 'vitest';
import type { RegisteredNamespace } from './temporal-on-demand.ts';

/** host:port of the test run's Temporal server, which the first call starts. Test files share it, and use task queues of their own. */
export async function temporalAddress(): Promise<string> {
  return ask('/address');
}

/** A namespace of that server that nobody else gets. */
export async function registeredNamespace(): Promise<RegisteredNamespace> {
  return JSON.parse(await ask('/namespace')) as RegisteredNamespace;
}

async function ask(path: string): Promise<string> {
  // Where the program has to be built first, the answer takes longer than fetch waits.
  const request = get(new URL(path, inject('temporalOnDemandUrl')));
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const answer = await text(response);
  if (response.statusCode !== 200) throw new Error(`The Temporal server for tests did not start: ${answer}`);
  return answer;
}
