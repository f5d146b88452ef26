import type { PoolClient } from 'pg';
import type { RefusedRecord } from '../landing/prepared-page.ts';
import { versionOfEntry } from '../quarantine/version-of-entry.ts';
import type { RunScope } from '../record-scope.ts';

/**
 * Withdraws what the run has held against a stream if the record that was found outside of syncs is deleted, or has another version, by now. Lists
 * are read before the events, and one list before another, so they cannot know that.
 */
export async function settleAhead(client: PoolClient, where: RunScope): Promise<void> {
  const { resource } = where;
  await settle(client, where, {
    name: `settle ahead of ${resource.name}`,
    which: `s.ahead_version is not null and not exists (
      select from finance.${resource.name} f
      where f.connection_id = $1 and f.id = s.ahead_record_id and f.${resource.version} = s.ahead_version
    )`,
  });
}

/**
 * Withdraws the same if a list shows the newer record in a form that cannot land: the record is not hidden, and the quarantine says what is wrong. An
 * older version proves nothing, because a list that has stopped still shows forms that were corrected since.
 */
export async function settleRefused(
  client: PoolClient,
  { refused, ...where }: RunScope & { refused: readonly RefusedRecord[] },
): Promise<void> {
  const named = refused.filter(({ recordId }) => recordId !== null);
  if (named.length === 0) return;
  await settle(client, where, {
    name: `settle refused ahead of ${where.resource.name}`,
    which: `exists (
      select from unnest($3::text[], $4::bigint[]) as refused (id, version)
      where refused.id = s.ahead_record_id
        and coalesce(timestamptz 'epoch' + refused.version * interval '1 microsecond' > s.ahead_version, true)
    )`,
    values: [
      named.map(({ recordId }) => recordId),
      named.map(({ text }) => versionOfEntry(text, where.resource) ?? null),
    ],
  });
}

/** Clears the records that streams of the resource were found behind, and the run's failure. `which` is a condition on the stream s. */
async function settle(
  client: PoolClient,
  { connectionId, resource, runId }: RunScope,
  { name, which, values = [] }: { name: string; which: string; values?: readonly unknown[] },
): Promise<void> {
  await client.query({
    name,
    text: `
      with settled as (
        update sync.streams s set
          ahead_version = null, ahead_record_id = null, ahead_noted_at = null, stalled_at = null
        where s.connection_id = $1 and s.resource = '${resource.name}' and ${which}
        returning stream
      )
      update sync.run_streams r set
        status = case when quarantined > 0 then 'partial' else 'succeeded' end,
        failure_type = null,
        failure = null
      from settled
      where r.run_id = $2 and r.stream = settled.stream and r.failure_type = 'Stalled'`,
    values: [connectionId, runId, ...values],
  });
}
