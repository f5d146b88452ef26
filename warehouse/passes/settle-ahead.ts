import type { PoolClient } from 'pg';
import type { RunScope } from '../record-scope.ts';

/**
 * A record that was met outside of syncs and is deleted, or has another version, by now need not be seen any more: what the run has
 * held against its stream is taken back. The lists are read before the events, and one before the other, so they cannot know.
 */
export async function settleAhead(
  client: PoolClient,
  { connectionId, resource, runId }: RunScope,
): Promise<void> {
  await client.query({
    name: `settle ahead of ${resource.name}`,
    text: `
      with settled as (
        update sync.streams s set
          ahead_version = null, ahead_record_id = null, ahead_noted_at = null, stalled_at = null
        where s.connection_id = $1 and s.resource = '${resource.name}' and s.ahead_version is not null
          and not exists (
            select from finance.${resource.name} f
            where f.connection_id = $1 and f.id = s.ahead_record_id and f.${resource.version} = s.ahead_version
          )
        returning stream
      )
      update sync.run_streams r set
        status = case when quarantined > 0 then 'partial' else 'succeeded' end,
        failure_type = null,
        failure = null
      from settled
      where r.run_id = $2 and r.stream = settled.stream and r.failure_type = 'Stalled'`,
    values: [connectionId, runId],
  });
}

/** A list that shows a newer record in a form that cannot land hides nothing: the quarantine says what is wrong. */
export async function settleRefused(
  client: PoolClient,
  { connectionId, stream, ids }: { connectionId: string; stream: string; ids: readonly string[] },
): Promise<void> {
  if (ids.length === 0) return;
  await client.query({
    name: 'settle refused ahead',
    text: `
      update sync.streams set ahead_version = null, ahead_record_id = null, ahead_noted_at = null, stalled_at = null
      where connection_id = $1 and stream = $2 and ahead_record_id = any($3::text[])`,
    values: [connectionId, stream, ids],
  });
}
