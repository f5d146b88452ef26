import { sql, type Kysely, type RawBuilder } from 'kysely';
import { eventsStream, streamNamed } from '../../resources/index.ts';
import { filtersOf } from '../../resources/resource.ts';
import type { Database } from '../tables/database.ts';

/** Creates the rows of streams that have none. Whichever caller is first stores all that is known about the stream. */
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
        listed_at: listedBefore(connectionId, stream),
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

interface StreamToOpen {
  readonly stream: string;
  readonly resource: { readonly name: string };
}

/** For a connection that was removed and added again: kept records of the stream came in pages, so it was listed before. Null if there are none. */
function listedBefore(connectionId: string, name: string): RawBuilder<Date | null> {
  if (name === eventsStream) return sql`null`;
  const { stream, resource } = streamNamed(name);
  const itsOwn = filtersOf(resource, stream).map(
    ([column, value]) => sql` and ${sql.ref(column)} = ${value}`,
  );
  return sql`(
    select clock_timestamp()
    where exists (
      select from ${sql.table(`finance.${resource.name}`)} where connection_id = ${connectionId}${sql.join(itsOwn, sql``)}
    )
  )`;
}
