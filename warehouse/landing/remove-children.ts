import type { PoolClient } from 'pg';
import type { RecordScope } from '../record-scope.ts';

/** Removes the rows of these records' lists. They are rewritten as a set, because a line has no key but its position. */
export async function removeChildren(
  client: PoolClient,
  input: RecordScope & { ids: readonly string[] },
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
