import { inject } from 'vitest';
import { askOnDemand } from './on-demand.ts';
import type { RegisteredNamespace } from './temporal-on-demand.ts';

/** host:port of the test run's Temporal server, which the first call starts. Test files share it, and use task queues of their own. */
export async function temporalAddress(): Promise<string> {
  return ask('/address');
}

/** A namespace of that server that nobody else gets. */
export async function registeredNamespace(): Promise<RegisteredNamespace> {
  return JSON.parse(await ask('/namespace')) as RegisteredNamespace;
}

function ask(path: string): Promise<string> {
  return askOnDemand(inject('temporalOnDemandUrl'), path);
}
