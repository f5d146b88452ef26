import type { PoolClient } from 'pg';
import type { Resource } from '../../resources/resource.ts';
import type { Findings } from '../landing/land-records.ts';
import type { PassInHand } from '../passes/pass.ts';

/**
 * Records what a reconcile found and repaired. The next sync would have brought a record newer than the stream's watermark: it has landed and is
 * counted, but nothing was wrong. Damaged rows are always recorded.
 */
export async function noteDiscrepancies(
  client: PoolClient,
  input: {
    pass: PassInHand;
    resource: Resource;
    findings: Findings;
    landedAt: string;
    /** IDs of records whose discrepancy is already known. */
    apart: readonly string[];
  },
): Promise<void> {
  const { pass, resource, findings, landedAt, apart } = input;
  const found = (['missing', 'stale', 'damaged'] as const).flatMap((kind) =>
    findings[kind].flatMap(({ id, version }) => (apart.includes(id) ? [] : [{ kind, id, version }])),
  );
  if (found.length === 0) return;
  await client.query({
    name: 'note discrepancies',
    text: `
      insert into sync.discrepancies
        (connection_id, resource, record_id, kind, status, version, run_id, found_at, closed_at, closed_why)
      select $1, $3, found.id, found.kind, 'repaired', found.version, $4, $8, $8, 'landed by the reconcile'
      from unnest($5::text[], $6::timestamptz[], $7::text[]) as found (id, version, kind)
      where found.kind = 'damaged'
        or found.version <= (select watermark from sync.streams where connection_id = $1 and stream = $2)`,
    values: [
      pass.connectionId,
      pass.stream,
      resource.name,
      pass.runId,
      found.map(({ id }) => id),
      found.map(({ version }) => version),
      found.map(({ kind }) => kind),
      landedAt,
    ],
  });
}
