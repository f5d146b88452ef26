import { randomBytes } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { afterAll } from 'vitest';
import { searchAttributeNames } from '../../temporal/search-attributes.ts';
import { eventually } from './eventually.ts';
import { temporalAddress } from './temporal-address.ts';

/** A namespace for the test file that calls it at its top: task queues have fixed names, so files must not share one. */
export async function createTestNamespace(address?: string): Promise<TestNamespace> {
  const namespace = `test-${randomBytes(6).toString('hex')}`;
  const server = address ?? (await temporalAddress());
  const connection = await Connection.connect({ address: server });
  afterAll(() => connection.close());
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: msToTs('1 day'),
  });
  const keyword = 2;
  await eventually(async () => {
    // The server takes a second or two to know the namespace everywhere.
    await connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(searchAttributeNames.map((name) => [name, keyword])),
    });
    return 'added';
  });
  return { address: server, namespace, client: new Client({ connection, namespace }) };
}

export interface TestNamespace {
  readonly address: string;
  readonly namespace: string;
  readonly client: Client;
}
