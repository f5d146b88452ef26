import { createHash } from 'node:crypto';
import type { PoolClient } from 'pg';
import type { Resource } from '../../resources/resource.ts';
import type { RefusedRecord } from './prepared-page.ts';

/**
 * Keeps records that cannot land, one open entry each, with the reason and the text, and returns how many. What a person has
 * discarded, or a deletion has, is not brought back by the same text: the lookback reads it again and again.
 */
export async function quarantineRecords(
  client: PoolClient,
  input: {
    connectionId: string;
    resource: Resource;
    stream: string;
    runId: string;
    landedAt: string;
    refused: readonly RefusedRecord[];
  },
): Promise<number> {
  // A record may stand in a page twice, and a statement may touch an entry only once: the last one counts.
  const entries = new Map(input.refused.map((record) => [entryKey(record), record]));
  if (entries.size === 0) return 0;
  const records = [...entries.values()];
  const { rowCount } = await client.query({
    name: 'quarantine records',
    text: `
      insert into sync.quarantine
        (connection_id, resource, stream, record_id, entry_key, reason, payload, run_id, first_seen_at, last_seen_at)
      select $1, $2, $3, refused.record_id, refused.entry_key, refused.reason, refused.payload, $8, $9, $9
      from unnest($4::text[], $5::text[], $6::text[], $7::text[]) as refused (record_id, entry_key, reason, payload)
      where not exists (
        select from sync.quarantine discarded
        where discarded.connection_id = $1 and discarded.resource = $2 and discarded.entry_key = refused.entry_key
          and discarded.status = 'discarded' and discarded.payload = refused.payload
      )
      on conflict (connection_id, resource, entry_key) where status = 'open' do update set
        reason = excluded.reason, payload = excluded.payload, stream = excluded.stream,
        run_id = excluded.run_id, last_seen_at = excluded.last_seen_at`,
    values: [
      input.connectionId,
      input.resource.name,
      input.stream,
      records.map(({ recordId }) => recordId),
      [...entries.keys()],
      records.map(({ reason }) => reason),
      records.map(({ text }) => text),
      input.runId,
      input.landedAt,
    ],
  });
  return rowCount ?? 0;
}

function entryKey({ recordId, text }: RefusedRecord): string {
  return recordId ?? createHash('sha256').update(text).digest('hex');
}
