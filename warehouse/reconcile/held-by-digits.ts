import type { PoolClient } from 'pg';
import type { RefusedRecord } from '../landing/prepared-page.ts';
import type { RecordScope } from '../record-scope.ts';

/**
 * The IDs of held records that a list shows as numbers. Such a record cannot land, and nobody knows that it is the one that is held; but
 * that one is not absent, whatever a person makes of the entry in quarantine.
 */
export async function heldByDigits(
  client: PoolClient,
  { connectionId, resource, refused }: RecordScope & { refused: readonly RefusedRecord[] },
): Promise<string[]> {
  const digits = refused.flatMap(({ recordId, text }) => (recordId === null ? digitsOf(text) : []));
  if (digits.length === 0) return [];
  const { rows } = await client.query<{ id: string }>({
    name: `held by digits of ${resource.name}`,
    text: `select id from finance.${resource.name} where connection_id = $1 and id = any($2::text[])`,
    values: [connectionId, digits],
  });
  return rows.map(({ id }) => id);
}

function digitsOf(text: string): string[] {
  const record: unknown = JSON.parse(text);
  const id = typeof record === 'object' && record !== null && 'id' in record ? record.id : undefined;
  return typeof id === 'number' && Number.isSafeInteger(id) ? [String(id)] : [];
}
