import type { PoolClient } from 'pg';

/**
 * Notes a record that was found outside of syncs and is newer than the watermark. Syncs that begin from now on must see it too, or the stream has
 * stalled.
 */
export async function noteAhead(
  client: PoolClient,
  input: {
    connectionId: string;
    stream: string;
    highest: { readonly id: string; readonly version: string };
    landedAt: string;
  },
): Promise<void> {
  const { connectionId, stream, highest, landedAt } = input;
  await client.query({
    name: 'note ahead',
    text: `
      update sync.streams
      set ahead_version = $3, ahead_record_id = $4, ahead_noted_at = $5
      where connection_id = $1 and stream = $2
        and watermark < $3::timestamptz and coalesce(ahead_version < $3::timestamptz, true)`,
    values: [connectionId, stream, highest.version, highest.id, landedAt],
  });
}
