import { inject } from 'vitest';

/** host:port of the test run's Temporal server, which the first call starts. Test files share it, and use task queues of their own. */
export async function temporalAddress(): Promise<string> {
  const response = await fetch(inject('temporalOnDemandUrl'));
  const answer = await response.text();
  if (!response.ok) throw new Error(`The Temporal server for tests did not start: ${answer}`);
  return answer;
}
