import type { PoolClient } from 'pg';

/** Closes an open entry, unless it holds another version of its record by now. */
export async function closeEntry(
  client: Pick<PoolClient, 'query'>,
  input: {
    id: number;
    /** The version that the caller has seen. */
    payload: string;
    status: 'landed' | 'discarded';
    why: string;
  },
): Promise<void> {
  await client.query(
    `update sync.quarantine set status = $3, closed_at = clock_timestamp(), closed_why = $4
     where id = $1 and payload = $2 and status = 'open'`,
    [input.id, input.payload, input.status, input.why],
  );
}
