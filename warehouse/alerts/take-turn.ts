import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';

/**
 * Whether the caller is to judge now: of all processes that ask, one is told so in each `everyMilliseconds`. Who is told and
 * dies leaves the next turn to the others.
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
