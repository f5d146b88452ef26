import { sql, type Kysely, type RawBuilder } from 'kysely';
import { resourceNames } from '../../resources/index.ts';
import type { Database } from '../tables/database.ts';

/** Makes the rows of streams that have none. Whoever is first to know of a stream says of it all there is to say. */
export async function openStreams(
  db: Kysely<Database>,
  { connectionId, streams }: { connectionId: string; streams: readonly StreamToOpen[] },
): Promise<void> {
  await db
    .insertInto('sync.streams')
    .values(
      streams.map(({ stream, resource }) => ({
        connection_id: connectionId,
        stream,
        resource: resource.name,
        listed_at: listedBefore(connectionId, resource.name),
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

interface StreamToOpen {
  readonly stream: string;
  readonly resource: { readonly name: string };
}

/** Of a connection that was removed and added again: what is kept came in pages. Null where nothing is. */
function listedBefore(connectionId: string, resource: string): RawBuilder<Date | null> {
  if (!resourceNames.includes(resource)) return sql`null`;
  return sql`(
    select clock_timestamp()
    where exists (select from ${sql.table(`finance.${resource}`)} where connection_id = ${connectionId})
  )`;
}
