import type { PoolClient } from 'pg';
import { codeOf } from '../../errors/code-of.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { queryAsOwner } from './query-as-owner.ts';
import { queryTexts, type QueryResult } from './query-texts.ts';
import { undoStatement } from './undo-statement.ts';

/**
 * Runs one statement as the role for readers, in a read-only transaction. If there is no such role, or not for this user, it calls `onOwner` and runs
 * the statement as the owner, who sees nothing of `sync` meanwhile.
 */
export async function queryAsReader(
  { pool }: Warehouse,
  statement: string,
  { onOwner }: { onOwner?: () => void } = {},
): Promise<QueryResult> {
  const client = await pool.connect();
  try {
    await client.query('begin read only');
    if (await becomeReader(client)) return await queryTexts(client, statement);
  } finally {
    await undoStatement(client);
  }
  onOwner?.();
  return queryAsOwner(pool, statement);
}

/** Takes the role for the rest of the transaction. Returns whether it could: a user with the right to create roles must have created it. */
export async function becomeReader(client: PoolClient): Promise<boolean> {
  await client.query('savepoint owner');
  try {
    await client.query('set local role daybook_reader');
    return true;
  } catch (error) {
    // 42501: not a member; 22023: no such role.
    if (!['42501', '22023'].includes(String(codeOf(error)))) throw error;
    await client.query('rollback to savepoint owner');
    return false;
  }
}
