import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';
import { holdsAnyRecord } from './holds-any-record.ts';

/** Returns the streams whose resource holds records, among those that a run found not to be offered: nothing was proved about them. */
export async function unlistedStreams(
  db: Warehouse['db'],
  { runId, streams }: { runId: string; streams: readonly string[] },
): Promise<string[]> {
  if (streams.length === 0) return [];
  const { rows } = await sql<{ stream: string }>`
    select s.stream
    from sync.runs r
    join sync.streams s using (connection_id)
    where r.run_id = ${runId} and s.stream = any(${[...streams]}::text[]) and ${holdsAnyRecord}
  `.execute(db);
  return rows.map(({ stream }) => stream);
}
