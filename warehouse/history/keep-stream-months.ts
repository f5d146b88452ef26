import { sql, type RawBuilder } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';

/**
 * Writes down what the runs that are kept tell of `history.stream_months`, of all connections or of one: it is still known
 * when the runs are gone.
 */
export async function keepStreamMonths({ db }: Pick<Warehouse, 'db'>, connectionId?: string): Promise<void> {
  const which: RawBuilder<boolean> =
    connectionId === undefined ? sql`true` : sql`connection_id = ${connectionId}`;
  await sql`
    insert into history.kept_stream_months as kept (connection_id, stream, month, outcome)
    select connection_id, stream, month, outcome from history.stream_months where ${which}
    on conflict (connection_id, stream, month) do update set outcome = excluded.outcome
    where kept.outcome <> excluded.outcome
  `.execute(db);
}
