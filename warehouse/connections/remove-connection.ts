import { sql } from 'kysely';
import { resources } from '../../resources/index.ts';
import { UnknownConnection } from '../errors.ts';
import { keepStreamMonths } from '../history/keep-stream-months.ts';
import type { Warehouse } from '../open-warehouse.ts';

/**
 * Forgets the connection and its state; its records and their history go too, unless `keepData`.
 * Throws UnknownConnection.
 */
export async function removeConnection(
  { db }: Warehouse,
  input: { connectionId: string; keepData: boolean },
): Promise<void> {
  const { connectionId, keepData } = input;
  await db.transaction().execute(async (transaction) => {
    if (keepData) await keepStreamMonths({ db: transaction }, connectionId);
    // Everything in sync hangs on this row and goes with it, but alerts: whoever was told of one is told that it is over.
    const removed = await transaction
      .deleteFrom('sync.connections')
      .where('connection_id', '=', connectionId)
      .returning('connection_id')
      .executeTakeFirst();
    if (removed === undefined) throw new UnknownConnection(connectionId);
    if (keepData) return;
    const tables = resources.flatMap(({ name, children }) => [name, ...children.map(({ table }) => table)]);
    for (const table of tables) {
      await sql`delete from ${sql.table(`finance.${table}`)} where connection_id = ${connectionId}`.execute(
        transaction,
      );
    }
    await sql`delete from history.record_versions where connection_id = ${connectionId}`.execute(transaction);
    await sql`delete from history.kept_stream_months where connection_id = ${connectionId}`.execute(
      transaction,
    );
  });
}
