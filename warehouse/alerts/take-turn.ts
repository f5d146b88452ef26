import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';

/**
 * Whether the caller is to judge now: true for one caller of all processes in each `everyMilliseconds`. If that caller dies, another one gets the
 * next turn.
 */
export async function takeTurn(
  { db }: Warehouse,
  { everyMilliseconds }: { everyMilliseconds: number },
): Promise<boolean> {
  const { rows } = await sql`
    insert into sync.settings (name, value) values ('alerts_judged_at', clock_timestamp()::text)
    on conflict (name) do update set value = excluded.value
    where settings.value::timestamptz <= clock_timestamp() - ${everyMilliseconds} * interval '1 millisecond'
    returning name
  `.execute(db);
  return rows.length > 0;
}
