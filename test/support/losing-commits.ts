import { Kysely, PostgresDialect } from 'kysely';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import type { Database } from '../../warehouse/tables/database.ts';

/**
 * The warehouse over a Postgres that tells of the next commit in which `statement` was made (its name, or a part of its text), and has lost it:
 * a standby took over.
 */
export function losingCommit({ pool }: Warehouse, statement: string): Warehouse & { isLost: () => boolean } {
  let isLost = false;
  const losing: Warehouse['pool'] = new Proxy(pool, {
    get(target, name): unknown {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      if (name !== 'connect') return member.bind(target) as unknown;
      return async (...given: unknown[]) => {
        // What asks for one statement connects with a callback, and commits by itself.
        if (given.length > 0) return (member as (...given: unknown[]) => unknown).apply(target, given);
        const client = await target.connect();
        let isMet = false;
        return new Proxy(client, {
          get(session, called): unknown {
            const own: unknown = Reflect.get(session, called, session);
            if (called !== 'query') return typeof own === 'function' ? (own.bind(session) as unknown) : own;
            return (...asked: [Statement]) => {
              isMet ||= named(asked[0]).includes(statement);
              if (asked[0] !== 'commit' || !isMet || isLost) return session.query(...(asked as [string]));
              isLost = true;
              return session.query('rollback');
            };
          },
        });
      };
    },
  });
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool: losing }) });
  return { pool: losing, db, close: () => Promise.resolve(), isLost: () => isLost };
}

type Statement = string | { readonly name?: string; readonly text?: string };

function named(statement: Statement): string {
  return typeof statement === 'string' ? statement : `${statement.name ?? ''} ${statement.text ?? ''}`;
}
