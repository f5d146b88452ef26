import type { Client } from '@temporalio/client';

export const searchAttributes = ['DaybookConnection', 'DaybookKind', 'DaybookPhase', 'DaybookFailure'];

/** Our search attributes that the namespace lacks. Syncs work without them; finding them in the Web UI is harder. */
export async function missingSearchAttributes(client: Client, namespace: string): Promise<string[]> {
  const { customAttributes } = await client.connection.operatorService.listSearchAttributes({ namespace });
  return searchAttributes.filter((name) => !(name in customAttributes));
}
