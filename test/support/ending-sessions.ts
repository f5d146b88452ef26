import { sql } from 'kysely';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { overSessions } from './over-sessions.ts';

/** The warehouse over sessions that Postgres ends at a commit: the first one, or the one with number `at`. */
export function endingSessions(
  warehouse: Warehouse,
  when: 'before' | 'after',
  { at = 1 }: { at?: number } = {},
): Warehouse {
  let commits = 0;
  return overSessions(warehouse, (client) => {
    const end = async (): Promise<void> => {
      const { processID } = client as unknown as { processID: number };
      await sql`select pg_terminate_backend(${processID}, 5000)`.execute(warehouse.db);
    };
    const commit = async (): Promise<unknown> => {
      const isLast = ++commits === at;
      if (isLast && when === 'before') await end();
      const answer = await client.query('commit');
      if (isLast && when === 'after') {
        await end();
        throw new Error('The session ended before it could say that it had committed.');
      }
      return answer;
    };
    return {
      // A query may be a stream, which no promise must wrap.
      query: (...given: [string]): unknown => (given[0] === 'commit' ? commit() : client.query(...given)),
      release() {
        client.release(true);
      },
    };
  });
}
