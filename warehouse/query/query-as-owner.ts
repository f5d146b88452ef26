import type { Pool, PoolClient } from 'pg';
import { beginStatement } from '../transactions/in-transaction.ts';
import { queryTexts, type QueryResult } from './query-texts.ts';
import { undoStatement } from './undo-statement.ts';

/**
 * Runs one statement as the owner and undoes its effects. For this transaction, which is read-only and rolled back, the owner revokes its own access
 * to `sync`; views of `finance` that read `sync` still work. This guards against mistakes only: effects outside the transaction
 * (`pg_terminate_backend` on Daybook's own sessions, functions of extensions) are not prevented.
 */
export async function queryAsOwner(pool: Pool, statement: string): Promise<QueryResult> {
  const client = await pool.connect();
  try {
    await client.query(beginStatement);
    await hideSync(client);
    await client.query('set transaction read only');
    return await (isShown(statement) ? queryTexts(client, statement) : queryByCursor(client, statement));
  } finally {
    await undoStatement(client);
  }
}

/** Runs one at a time: another transaction that hides `sync` has to end first. */
async function hideSync(client: PoolClient): Promise<void> {
  const { rows } = await client.query<{ owner: string }>(
    `select quote_ident(pg_get_userbyid(nspowner)) as owner from pg_namespace where nspname = 'sync'`,
  );
  await client.query(`revoke usage on schema sync from ${rows[0]?.owner ?? 'current_user'}`);
  const { rows: left } = await client.query(`select where has_schema_privilege('sync', 'usage')`);
  if (left.length > 0) {
    throw new Error(
      'There is no role daybook_reader for this user, which is not the owner of the warehouse either, so nothing was asked. ' +
        'Have an administrator run the SQL that "daybook migrate" prints.',
    );
  }
}

/** Whether the statement shows something, and cannot be a cursor. */
function isShown(statement: string): boolean {
  return /^\s*(explain|show)\s/i.test(statement);
}

/** The grammar of a cursor allows only a query: no `commit`, which would make the owner's loss of `sync` permanent. */
async function queryByCursor(client: PoolClient, statement: string): Promise<QueryResult> {
  await queryTexts(client, `declare daybook_query no scroll cursor for ${statement}`);
  return queryTexts(client, 'fetch all from daybook_query');
}
