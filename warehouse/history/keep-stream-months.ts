import { sql, type RawBuilder } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';

/**
 * Writes down what the runs that are kept tell of `history.stream_months`, of all connections or of one: it is still known
 * when the runs are gone. Of all connections it notes how far it has come, and those runs are not looked at again: a day less, for what
 * was about to be committed.
 */
export async function keepStreamMonths({ db }: Pick<Warehouse, 'db'>, connectionId?: string): Promise<void> {
  const which: RawBuilder<boolean> =
    connectionId === undefined ? sql`true` : sql`connection_id = ${connectionId}`;
  await sql`
    with kept as (
      insert into history.kept_stream_months as kept (connection_id, stream, month, outcome)
      select connection_id, stream, month, outcome from history.stream_months where ${which}
      on conflict (connection_id, stream, month) do update set outcome = excluded.outcome
      where kept.outcome <> excluded.outcome
    )
    insert into sync.settings (name, value)
    select 'stream_months_kept_until', (now() - interval '1 day')::text where ${connectionId === undefined}
    on conflict (name) do update set value = excluded.value
  `.execute(db);
}
