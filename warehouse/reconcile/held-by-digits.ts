import type { PoolClient } from 'pg';
import type { RecordScope } from '../record-scope.ts';

/**
 * Reads the IDs of held records that a list shows as numbers. Such a record cannot land, and nobody knows that it is the one held. But the one held
 * is not absent, whatever a person does with the quarantine entry.
 */
export async function heldByDigits(
  client: PoolClient,
  { connectionId, resource, digits }: RecordScope & { digits: readonly string[] },
): Promise<string[]> {
  if (digits.length === 0) return [];
  const { rows } = await client.query<{ id: string }>({
    name: `held by digits of ${resource.name}`,
    text: `select id from finance.${resource.name} where connection_id = $1 and id = any($2::text[])`,
    values: [connectionId, digits],
  });
  return rows.map(({ id }) => id);
}
