import { inject } from 'vitest';
import { askOnDemand } from './on-demand.ts';
import type { RegisteredNamespace } from './temporal-on-demand.ts';

/** host:port of the test run's Temporal server, which the first call starts. Test files share the server, and use their own task queues. */
export async function temporalAddress(): Promise<string> {
  return ask('/address');
}

/** A namespace of that server that no other caller gets. */
export async function registeredNamespace(): Promise<RegisteredNamespace> {
  return JSON.parse(await ask('/namespace')) as RegisteredNamespace;
}

function ask(path: string): Promise<string> {
  return askOnDemand(inject('temporalOnDemandUrl'), path);
}
