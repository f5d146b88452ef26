import { Client, Connection } from '@temporalio/client';
import { afterAll } from 'vitest';
import { registerNamespace } from './register-namespace.ts';
import { registeredNamespace } from './temporal-address.ts';

/**
 * A namespace for the test file that calls it at its top: task queues have fixed names, so files must not share one. It is on the test run's
 * Temporal server, or on the one at `address`.
 */
export async function createTestNamespace(address?: string): Promise<TestNamespace> {
  const known = address === undefined ? await registeredNamespace() : { address };
  const connection = await Connection.connect({ address: known.address });
  afterAll(() => connection.close());
  const namespace = 'namespace' in known ? known.namespace : await registerNamespace(connection);
  return { address: known.address, namespace, client: new Client({ connection, namespace }) };
}

export interface TestNamespace {
  readonly address: string;
  readonly namespace: string;
  readonly client: Client;
}
