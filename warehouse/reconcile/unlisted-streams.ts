import { sql, type Transaction } from 'kysely';
import type { Database } from '../tables/database.ts';
import { holdsRecords } from './holds-records.ts';

/** Of these streams, that a run found not to be offered, those whose resource holds records: nothing was proved about them. */
export async function unlistedStreams(
  db: Transaction<Database>,
  { runId, streams }: { runId: string; streams: readonly string[] },
): Promise<string[]> {
  if (streams.length === 0) return [];
  const { rows } = await sql<{ stream: string }>`
    select s.stream
    from sync.runs r
    join sync.streams s using (connection_id)
    where r.run_id = ${runId} and s.stream = any(${[...streams]}::text[]) and ${holdsRecords}
  `.execute(db);
  return rows.map(({ stream }) => stream);
}
