import type { PoolClient } from 'pg';
import type { RecordScope } from '../record-scope.ts';

/**
 * Closes quarantine entries of records that the source surely has in a good form, whatever version the bad form had: a clock was wrong and has been
 * corrected. An entry met since `foundAt`, when the doubt arose, may be newer, and stays open.
 */
export async function closeOverruled(
  client: PoolClient,
  input: RecordScope & { ids: readonly string[]; foundAt: string; landedAt: string },
): Promise<void> {
  const { connectionId, resource, ids, foundAt, landedAt } = input;
  await client.query(
    `update sync.quarantine
     set status = 'landed', closed_at = $5, closed_why = 'a good version arrived'
     where connection_id = $1 and resource = $2 and entry_key = any($3::text[]) and record_id is not null
       and status = 'open' and last_seen_at < $4`,
    [connectionId, resource.name, ids, foundAt, landedAt],
  );
}
