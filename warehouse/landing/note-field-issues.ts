import type { PoolClient } from 'pg';
import type { LandingScope } from '../record-scope.ts';
import type { PreparedRecord } from './prepared-page.ts';

/** Notes decimal strings that are not numbers: their records are landed, with null in the field. */
export async function noteFieldIssues(
  client: PoolClient,
  input: LandingScope & { written: readonly PreparedRecord[] },
): Promise<void> {
  const { connectionId, resource, runId, landedAt, written } = input;
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
