import type { Client } from '@temporalio/client';
import { searchAttributeNames } from '../temporal/search-attributes.ts';

/** Our search attributes that the namespace lacks. Syncs work without them; finding them in the Web UI is harder. */
export async function missingSearchAttributes(client: Client, namespace: string): Promise<string[]> {
  const { customAttributes } = await client.connection.operatorService.listSearchAttributes({ namespace });
  return searchAttributeNames.filter((name) => !(name in customAttributes));
}
