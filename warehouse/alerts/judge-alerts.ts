import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';
import { troubles } from './troubles.ts';

/**
 * Makes the open alerts what is wrong now: opens, brings messages up to date, resolves. One statement, nothing remembered:
 * repeated, or run by two at once, it ends the same.
 *
 * `pausedElsewhere` are connections whose schedule is paused in Temporal, which the database does not know: like those
 * paused here they are not stale.
 */
export async function judgeAlerts(
  { db }: Warehouse,
  { pausedElsewhere }: { pausedElsewhere: readonly string[] },
): Promise<void> {
  await sql`
    with wrong as materialized (
      ${sql.join(Object.values(troubles), sql` union all `)}
    ), counted as (
      select * from wrong
      where not (kind = 'stale' and connection_id = any(${[...pausedElsewhere]}::text[]))
    ), resolved as (
      update sync.alerts a set resolved_at = clock_timestamp()
      where a.resolved_at is null
        and not exists (
          select from counted c where c.kind = a.kind and c.connection_id is not distinct from a.connection_id
        )
    )
    insert into sync.alerts as a (kind, connection_id, message, remedy)
    select kind, connection_id, message, remedy from counted
    on conflict (kind, coalesce(connection_id, '')) where resolved_at is null
    do update set message = excluded.message, remedy = excluded.remedy
    where (a.message, a.remedy) is distinct from (excluded.message, excluded.remedy)
  `.execute(db);
}
