import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Database } from '../tables/database.ts';

/**
 * SQL that takes the time of the next write to a resource: the clock of the database or, when that was ahead and was corrected,
 * at most ten milliseconds after the write before, at random: a time that a failover takes back does not come again. What was written before what is decided by these times, so they follow the order
 * of the commits: whoever takes one holds the resource's row until its transaction ends.
 *
 * `from` is the from clause of what must be there, and locked, first.
 */
export function tickSql(connectionId: string, resource: string, from = ''): string {
  return `
    insert into ${clocks} select ${connectionId}, ${resource}, clock_timestamp() ${from} ${unlessAhead}`;
}

/** Takes the time of the next write. */
export async function tick(
  db: Kysely<Database>,
  { connectionId, resource }: { connectionId: string; resource: string },
): Promise<string> {
  const { rows } = await sql<{ landed_at: string }>`
    insert into ${sql.raw(clocks)} values (${connectionId}, ${resource}, clock_timestamp()) ${sql.raw(unlessAhead)}
  `.execute(db);
  return rows[0]?.landed_at ?? '';
}

/** A time after every write so far, without a claim on the next one. */
export function afterLastWrite(connectionId: string, resource: string): RawBuilder<string> {
  return sql`greatest(clock_timestamp(), (
    select landed_at + interval '1 microsecond' from sync.resource_clocks
    where connection_id = ${connectionId} and resource = ${resource}
  ))`;
}

const clocks = 'sync.resource_clocks as clock (connection_id, resource, landed_at)';

// Of gen_random_uuid, because random() can be seeded.
const unlessAhead = `
    on conflict (connection_id, resource) do update
      set landed_at = case
        when excluded.landed_at > clock.landed_at then excluded.landed_at
        else clock.landed_at + interval '1 microsecond' * (1 + ('x' || left(gen_random_uuid()::text, 8))::bit(32)::bigint % 10000)
      end
    returning landed_at::text as landed_at`;
