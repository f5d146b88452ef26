import type { PoolClient } from 'pg';
import { codeOf } from '../../errors/code-of.ts';
import { nothingLanded, type LandedCounts } from './land-records.ts';
import type { PreparedRecord, RefusedRecord } from './prepared-page.ts';

/**
 * Lands the records that Postgres accepts when it refuses some of them: it halves the batch until each refused record is alone. This is
 * rare, so it may cost log2(n) attempts for each refused record.
 */
export async function bisectRecords(
  client: PoolClient,
  records: readonly PreparedRecord[],
  land: (records: readonly PreparedRecord[]) => Promise<LandedCounts>,
): Promise<{ counts: LandedCounts; refused: RefusedRecord[] }> {
  await client.query('savepoint bisect');
  try {
    const counts = await land(records);
    await client.query('release savepoint bisect');
    return { counts, refused: [] };
  } catch (error) {
    if (!isRefusedData(error)) throw error;
    await client.query('rollback to savepoint bisect');
    await client.query('release savepoint bisect');
    const [first] = records;
    if (first !== undefined && records.length === 1) {
      const reason = `Postgres refuses it: ${error.message}`;
      return { counts: nothingLanded, refused: [{ recordId: first.id, reason, text: first.text }] };
    }
    const middle = Math.ceil(records.length / 2);
    const left = await bisectRecords(client, records.slice(0, middle), land);
    const right = await bisectRecords(client, records.slice(middle), land);
    return { counts: sum(left.counts, right.counts), refused: [...left.refused, ...right.refused] };
  }
}

/** Classes 22 (data exception) and 54 (a limit of Postgres): the data is at fault, not the database. */
export function isRefusedData(error: unknown): error is Error & { code: string } {
  return error instanceof Error && /^(22|54)/.test(String(codeOf(error)));
}

function sum(a: LandedCounts, b: LandedCounts): LandedCounts {
  return {
    inserted: a.inserted + b.inserted,
    updated: a.updated + b.updated,
    unchanged: a.unchanged + b.unchanged,
    suppressed: a.suppressed + b.suppressed,
  };
}
