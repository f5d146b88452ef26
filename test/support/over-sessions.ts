import { Kysely, PostgresDialect } from 'kysely';
import type { PoolClient } from 'pg';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import type { Database } from '../../warehouse/tables/database.ts';

/** The warehouse over sessions with some methods replaced. A single query of the pool itself gets an unchanged session. */
export function overSessions(
  { pool }: Warehouse,
  methodsOf: (client: PoolClient) => Readonly<Record<string, unknown>>,
): Warehouse {
  const over: Warehouse['pool'] = new Proxy(pool, {
    get(target, name): unknown {
      if (name !== 'connect') return ownMember(target, name);
      return async () => {
        const client = await target.connect();
        const methods = methodsOf(client);
        return new Proxy(client, {
          get: (session, called) => methods[String(called)] ?? ownMember(session, called),
        });
      };
    },
  });
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool: over }) });
  return { pool: over, db, close: () => Promise.resolve() };
}

function ownMember(target: object, name: string | symbol): unknown {
  const member: unknown = Reflect.get(target, name, target);
  return typeof member === 'function' ? (member.bind(target) as unknown) : member;
}
