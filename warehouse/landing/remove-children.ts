import type { PoolClient } from 'pg';
import type { Resource } from '../../resources/resource.ts';

/** Removes the rows of the lists of these records: they are written anew, as a set, for a line has no key but its place. */
export async function removeChildren(
  client: PoolClient,
  input: { connectionId: string; resource: Resource; ids: readonly string[] },
): Promise<void> {
  if (input.ids.length === 0) return;
  for (const child of input.resource.children) {
    await client.query({
      name: `remove ${child.table}`,
      text: `delete from finance.${child.table} where connection_id = $1 and ${child.parentKey} = any($2::text[])`,
      values: [input.connectionId, input.ids],
    });
  }
}
