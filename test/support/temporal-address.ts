import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { inject } from 'vitest';

/** host:port of the test run's Temporal server, which the first call starts. Test files share it, and use task queues of their own. */
export async function temporalAddress(): Promise<string> {
  // Where the program has to be built first, the answer takes longer than fetch waits.
  const [response] = (await once(get(inject('temporalOnDemandUrl')), 'response')) as [IncomingMessage];
  const answer = await text(response);
  if (response.statusCode !== 200) throw new Error(`The Temporal server for tests did not start: ${answer}`);
  return answer;
}
