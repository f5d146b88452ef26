import type { Client } from '@temporalio/client';
import { searchAttributeNames } from '../temporal/search-attributes.ts';

/** Returns our search attributes that the namespace lacks. Syncs work without them, but are harder to find in the Web UI. */
export async function missingSearchAttributes(client: Client, namespace: string): Promise<string[]> {
  const { customAttributes } = await client.connection.operatorService.listSearchAttributes({ namespace });
  return searchAttributeNames.filter((name) => !(name in customAttributes));
}
