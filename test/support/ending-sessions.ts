import { Kysely, PostgresDialect, sql } from 'kysely';
import type { PoolClient } from 'pg';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import type { Database } from '../../warehouse/tables/database.ts';

/** The warehouse over sessions that Postgres ends at a commit: the first one, unless `at` tells another. */
export function endingSessions(
  { pool, db: ownDb }: Warehouse,
  when: 'before' | 'after',
  { at = 1 }: { at?: number } = {},
): Warehouse {
  let commits = 0;
  const connect = async (): Promise<PoolClient> => {
    const client = await pool.connect();
    const end = async (): Promise<void> => {
      const { processID } = client as unknown as { processID: number };
      await sql`select pg_terminate_backend(${processID}, 5000)`.execute(ownDb);
    };
    return new Proxy(client, {
      get(target, name): unknown {
        if (name === 'query')
          return async (...given: [string]) => {
            const isCommit = given[0] === 'commit' && ++commits === at;
            if (isCommit && when === 'before') await end();
            const answer = await target.query(...given);
            if (isCommit && when === 'after') {
              await end();
              throw new Error('The session ended before it could say that it had committed.');
            }
            return answer;
          };
        if (name === 'release')
          return () => {
            target.release(true);
          };
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === 'function' ? (member.bind(target) as unknown) : member;
      },
    });
  };
  const ending: Warehouse['pool'] = new Proxy(pool, {
    get(target, name): unknown {
      if (name === 'connect') return connect;
      // What asks for one statement connects with a callback, and commits by itself.
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool: ending }) });
  return { pool: ending, db, close: () => Promise.resolve() };
}
