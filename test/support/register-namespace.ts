import { randomBytes } from 'node:crypto';
import type { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { searchAttributeNames } from '../../temporal/search-attributes.ts';
import { eventually } from './eventually.ts';

/** Registers a namespace and returns its name once every part of the server knows it, which takes a second or two. */
export async function registerNamespace({
  workflowService,
  operatorService,
}: Pick<Connection, 'workflowService' | 'operatorService'>): Promise<string> {
  const namespace = `test-${randomBytes(6).toString('hex')}`;
  await workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: msToTs('1 day'),
  });
  const keyword = 2;
  await eventually(async () => {
    await operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(searchAttributeNames.map((name) => [name, keyword])),
    });
    return 'added';
  });
  return namespace;
}
