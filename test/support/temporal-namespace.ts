import { Client, Connection } from '@temporalio/client';
import { afterAll } from 'vitest';
import { registerNamespace } from './register-namespace.ts';
import { registeredNamespace } from './temporal-address.ts';

/**
 * Creates a namespace for the test file that calls this at its top. Task queues have fixed names, so files must not share a namespace. The
 * server is the test run's, or the one at `address`.
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
