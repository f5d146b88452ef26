import type { PoolClient } from 'pg';
import type { Resource } from '../../resources/resource.ts';
import type { PreparedRecord } from './prepared-page.ts';

/**
 * What a good record settles: the tombstone it is newer than, the quarantine entry of an earlier bad version, the field
 * issues of the content it replaces (its own are noted instead).
 */
export async function settleRecords(
  client: PoolClient,
  input: {
    connectionId: string;
    resource: Resource;
    runId: string;
    landedAt: string;
    written: readonly PreparedRecord[];
    known: readonly PreparedRecord[];
  },
): Promise<void> {
  const { connectionId, resource, runId, landedAt, written, known } = input;
  const writtenIds = written.map(({ id }) => id);
  await client.query({
    name: 'settle records',
    text: settleSql,
    values: [
      connectionId,
      resource.name,
      writtenIds,
      [...writtenIds, ...known.map(({ id }) => id)],
      landedAt,
    ],
  });
  const issues = written.flatMap(({ id, fieldIssues }) => fieldIssues.map((issue) => ({ id, ...issue })));
  if (issues.length === 0) return;
  await client.query({
    name: 'note field issues',
    text: `
      insert into sync.field_issues (connection_id, resource, record_id, field, value, run_id, seen_at)
      select $1, $2, issue.id, issue.field, issue.value, $6, $7
      from unnest($3::text[], $4::text[], $5::text[]) as issue (id, field, value)`,
    values: [
      connectionId,
      resource.name,
      issues.map(({ id }) => id),
      issues.map(({ field }) => field),
      issues.map(({ value }) => value),
      runId,
      landedAt,
    ],
  });
}

const settleSql = `
  with tombstones as (
    delete from sync.tombstones where connection_id = $1 and resource = $2 and record_id = any($3::text[])
  ), issues as (
    delete from sync.field_issues where connection_id = $1 and resource = $2 and record_id = any($3::text[])
  )
  update sync.quarantine
  set status = 'landed', closed_at = $5, closed_why = 'a good version arrived'
  where connection_id = $1 and resource = $2 and entry_key = any($4::text[]) and status = 'open'`;
