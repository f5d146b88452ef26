import { sql, type Transaction } from 'kysely';
import { codeOf } from '../../errors/code-of.ts';
import type { Warehouse } from '../open-warehouse.ts';
import type { Database } from '../tables/database.ts';

export class UnknownReader extends Error {
  override readonly name = 'UnknownReader';
  readonly handling = 'stop';

  constructor(reader: string) {
    super(`There is no reader ${reader}. "daybook reader list" names those there are.`);
  }
}

/**
 * From its commit on the reader sees nothing, in sessions that are open too. Returns what an administrator of the server has to run, where
 * the owner may not drop the login, or where it was given more than Daybook gave it; else null. Throws UnknownReader.
 */
export async function removeReader({ db }: Warehouse, reader: string): Promise<string | null> {
  return db.transaction().execute(async (transaction) => {
    const removed = await transaction
      .deleteFrom('sync.readers')
      .where('reader', '=', reader)
      .returning(['login', sql<boolean>`database_name = current_database()`.as('is_ours')])
      .executeTakeFirst();
    if (removed === undefined) throw new UnknownReader(reader);
    return removed.is_ours ? dropLogin(transaction, removed.login) : null;
  });
}

async function dropLogin(db: Transaction<Database>, login: string): Promise<string | null> {
  const { rows } = await sql<{ database: string }>`
    select quote_ident(current_database()) as database from pg_roles where rolname = ${login}
  `.execute(db);
  const [found] = rows;
  if (found === undefined) return null;
  const closing = [
    `revoke connect on database ${found.database} from ${login}`,
    `revoke daybook_tenant from ${login}`,
  ];
  const drop = `drop role ${login}`;
  if (await isDone(db, [...closing, drop])) return null;
  // Something else depends on the login: what it reads here is taken from it all the same.
  await isDone(db, closing);
  return `drop owned by ${login};\n${drop};\n`;
}

/** Tries, and says whether Postgres did it. */
async function isDone(db: Transaction<Database>, statements: readonly string[]): Promise<boolean> {
  await sql`savepoint before`.execute(db);
  try {
    for (const statement of statements) await sql.raw(statement).execute(db);
    return true;
  } catch (error) {
    if (!['42501', '2BP01'].includes(String(codeOf(error)))) throw error;
    await sql`rollback to savepoint before`.execute(db);
    return false;
  }
}
