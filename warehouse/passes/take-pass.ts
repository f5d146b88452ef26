import { sql } from 'kysely';
import type { Resource, Stream } from '../../resources/resource.ts';
import type { Warehouse } from '../open-warehouse.ts';
import type { PassInHand } from './pass.ts';

/** Where a reading of a stream goes on, or why there is nothing to read. */
export type PassTaken =
  | { readonly state: 'open'; readonly cursor: string | null; readonly floorMilliseconds: number | null }
  /** This run has done with the stream already: an attempt before this one got that far. */
  | { readonly state: 'done' }
  /** The service said lately that it does not list this resource for the platform. */
  | { readonly state: 'unsupported' };

/**
 * Takes the lease of a stream's pass: the one left open, or a new one with the floor at watermark minus lookback (none
 * for the first). Whoever held the lease before can commit nothing any more.
 */
export async function takePass(
  warehouse: Warehouse,
  input: { pass: PassInHand; stream: Stream; resource: Resource; lookbackMilliseconds: number },
): Promise<PassTaken> {
  const { pass, resource } = input;
  return warehouse.db.transaction().execute(async (db) => {
    await db
      .insertInto('sync.streams')
      .values({ connection_id: pass.connectionId, stream: pass.stream, resource: resource.name })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    // A page that is being landed holds the pass and comes to the stream last: in another order, both would wait for ever.
    await db
      .selectFrom('sync.passes')
      .select('lease')
      .where('connection_id', '=', pass.connectionId)
      .where('stream', '=', pass.stream)
      .where('kind', '=', pass.kind)
      .forUpdate()
      .execute();
    const stream = await db
      .selectFrom('sync.streams')
      .select(({ eb }) => [
        'watermark',
        eb
          .and([
            eb('capability', '=', 'unsupported'),
            eb('capability_checked_at', '>', sql<Date>`now() - interval '1 day'`),
          ])
          .as('unsupported'),
      ])
      .where('connection_id', '=', pass.connectionId)
      .where('stream', '=', pass.stream)
      .forUpdate()
      .executeTakeFirstOrThrow();
    const counted = await db
      .insertInto('sync.run_streams')
      .values((eb) => ({
        run_id: pass.runId,
        connection_id: pass.connectionId,
        stream: pass.stream,
        status: 'running',
        // Copied inside the database: a Date would cut its microseconds.
        watermark_before: eb
          .selectFrom('sync.streams')
          .select('watermark')
          .where('connection_id', '=', pass.connectionId)
          .where('stream', '=', pass.stream),
      }))
      .onConflict((conflict) =>
        conflict.columns(['run_id', 'stream']).doUpdateSet((eb) => ({
          // A reset goes on where a run had failed: what had been given up is taken up again.
          status: eb
            .case()
            .when('sync.run_streams.status', 'in', ['failed', 'cancelled', 'interrupted'])
            .then('running' as const)
            .else(eb.ref('sync.run_streams.status'))
            .end(),
          failure_type: null,
          failure: null,
        })),
      )
      .returning('status')
      .executeTakeFirstOrThrow();
    if (counted.status !== 'running')
      return { state: counted.status === 'unsupported' ? 'unsupported' : 'done' };
    if (stream.unsupported === true || stream.unsupported === 1) {
      await db
        .updateTable('sync.run_streams')
        .set({ status: 'unsupported', finished_at: sql<Date>`clock_timestamp()` })
        .where('run_id', '=', pass.runId)
        .where('stream', '=', pass.stream)
        .execute();
      return { state: 'unsupported' };
    }
    return openPass(db, input);
  });
}

async function openPass(
  db: Warehouse['db'],
  { pass, lookbackMilliseconds }: { pass: PassInHand; lookbackMilliseconds: number },
): Promise<PassTaken> {
  const { rows } = await sql<{ cursor: string | null; floor_ms: number | null }>`
    insert into sync.passes (connection_id, stream, kind, run_id, lease, floor)
    select ${pass.connectionId}, ${pass.stream}, ${pass.kind}, ${pass.runId}, ${pass.lease},
      watermark - ${lookbackMilliseconds} * interval '1 millisecond'
    from sync.streams
    where connection_id = ${pass.connectionId} and stream = ${pass.stream}
    on conflict (connection_id, stream, kind) do update set
      restarts = case when sync.passes.run_id = excluded.run_id then sync.passes.restarts else 0 end,
      run_id = excluded.run_id,
      lease = excluded.lease
    returning cursor, floor(extract(epoch from floor) * 1000)::bigint as floor_ms
  `.execute(db);
  const [open] = rows;
  if (open === undefined) throw new Error(`The pass of ${pass.stream} could not be opened.`);
  return { state: 'open', cursor: open.cursor, floorMilliseconds: open.floor_ms };
}
