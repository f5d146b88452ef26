import { sql, type Kysely } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';
import type { InBatch } from '../transactions/batches.ts';
import type { Database } from '../tables/database.ts';

/**
 * Stores what the kept runs say about `history.stream_months`, so that it is still known when the runs are gone. It also stores a watermark, and
 * earlier runs are not read again; the watermark is a day back, for transactions about to commit. Each transaction handles a few connections; after a
 * crash, the next call writes the same.
 */
export async function keepStreamMonths(inBatch: InBatch): Promise<void> {
  const { rows: began } = await inBatch(({ db }) =>
    sql<{ until: string }>`select (now() - interval '1 day')::text as until`.execute(db),
  );
  let after = '';
  for (;;) {
    const last = await inBatch(({ db }) => keepNext(db, { after }));
    if (last === undefined) break;
    after = last;
  }
  await inBatch(({ db }) =>
    sql`
      insert into sync.settings (name, value) values ('stream_months_kept_until', ${began[0]?.until})
      on conflict (name) do update set value = excluded.value
    `.execute(db),
  );
}

/** Stores the months of the next connections after `after`. Returns the last of them, or undefined if there are no more. */
async function keepNext(db: Kysely<Database>, { after }: { after: string }): Promise<string | undefined> {
  const page = await db
    .selectFrom('sync.connections')
    .select('connection_id')
    .where('connection_id', '>', after)
    .orderBy('connection_id')
    .limit(connectionsAtOnce)
    .execute();
  const names = page.map(({ connection_id }) => connection_id);
  await keepStreamMonthsFor({ db }, names);
  return names.length < connectionsAtOnce ? undefined : names.at(-1);
}

/** Connections per transaction. Their rows are locked, so their syncs that begin meanwhile wait. */
const connectionsAtOnce = 50;

/**
 * Stores the months of some connections. Their rows are locked and read in the same snapshot as the runs. If a connection is gone by then, nothing is
 * stored for it, because another one may have its name.
 */
export async function keepStreamMonthsFor(
  { db }: Pick<Warehouse, 'db'>,
  connections: readonly string[],
): Promise<void> {
  await sql`
    with held as materialized (
      select connection_id from sync.connections
      where connection_id = any(${connections}::text[])
      order by connection_id
      for key share
    )
    insert into history.kept_stream_months as kept (connection_id, stream, month, outcome, complete_until)
    select connection_id, stream, month, outcome, complete_until from history.stream_months
    where connection_id = any(${connections}::text[]) and connection_id in (select connection_id from held)
    on conflict (connection_id, stream, month) do update set
      outcome = excluded.outcome, complete_until = excluded.complete_until
    where (kept.outcome, kept.complete_until) is distinct from (excluded.outcome, excluded.complete_until)
  `.execute(db);
}
