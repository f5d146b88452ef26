import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Database } from '../tables/database.ts';

/**
 * Returns SQL that takes the time of the next write to a resource: the time of the database's clock. If that clock was ahead and has been corrected,
 * it is the time of the previous write plus a random part of ten milliseconds, so that a time lost in a failover does not occur again. These times
 * decide which write came first, so they follow the order of the commits: the transaction that takes one holds the resource's row until it ends.
 *
 * `from` is a from clause of rows that must exist, and be locked, first.
 */
export function writeTimeSql(connectionId: string, resource: string, from = ''): string {
  return `
    insert into ${clocks} select ${connectionId}, ${resource}, clock_timestamp() ${from} ${unlessAhead}`;
}

/** Takes the time of the next write. */
export async function takeWriteTime(
  db: Kysely<Database>,
  { connectionId, resource }: { connectionId: string; resource: string },
): Promise<string> {
  const { rows } = await sql<{ landed_at: string }>`
    insert into ${sql.raw(clocks)} values (${connectionId}, ${resource}, clock_timestamp()) ${sql.raw(unlessAhead)}
  `.execute(db);
  return rows[0]?.landed_at ?? '';
}

/** Returns a time after every write so far, without reserving the next one. */
export function afterLastWrite(connectionId: string, resource: string): RawBuilder<string> {
  return sql`greatest(clock_timestamp(), (
    select landed_at + interval '1 microsecond' from sync.resource_clocks
    where connection_id = ${connectionId} and resource = ${resource}
  ))`;
}

const clocks = 'sync.resource_clocks as clock (connection_id, resource, landed_at)';

// From gen_random_uuid, because random() can be seeded.
const unlessAhead = `
    on conflict (connection_id, resource) do update
      set landed_at = case
        when excluded.landed_at > clock.landed_at then excluded.landed_at
        else clock.landed_at + interval '1 microsecond' * (1 + ('x' || left(gen_random_uuid()::text, 8))::bit(32)::bigint % 10000)
      end
    returning landed_at::text as landed_at`;
