import { sql, type RawBuilder } from 'kysely';
import { inTransaction } from '../in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { ConnectionReplaced, ReconcileReplaced } from '../errors.ts';
import { knownUnsupported } from './known-unsupported.ts';
import { afterLastWrite, tick } from '../resource-clock.ts';
import { unlessRemoved } from '../runs/unless-removed.ts';
import { openStreams } from './open-streams.ts';
import type { Listed, PassInHand } from './pass.ts';

/** Where a reading of a stream goes on, or why there is nothing to read. */
export type PassTaken =
  | {
      readonly state: 'open';
      readonly cursor: string | null;
      /** What the reading is limited to, in Unix milliseconds. */
      readonly floorMilliseconds: number | null;
      readonly ceilingMilliseconds: number | null;
      /** The service's time at its latest page; null before the first. */
      readonly servedUntilMilliseconds: number | null;
      /** The newest version of its pages; null before the first. */
      readonly highestMilliseconds: number | null;
      /** Of a sync: the watermark that its floor comes from. */
      readonly watermarkMilliseconds: number | null;
      /** Of a sync: what the service's clock showed with the newest page of any, and how long ago that is by ours. */
      readonly serviceTime: { readonly milliseconds: number; readonly agoMilliseconds: number } | null;
      /** What the clock of the database showed then, in Unix milliseconds. */
      readonly takenAtMilliseconds: number;
      /** Another run has left it behind a page, and this one has read none. */
      readonly takenOver: boolean;
      /** How often it has begun again in this run. */
      readonly restarts: number;
      /** It has stood still in this run before, and begun again. */
      readonly stoodStill: boolean;
      /** Its list never returned a page, and is not remembered as one that the service does not have. */
      readonly neverAnswered: boolean;
    }
  /** This run has done with the stream already: an attempt before this one got that far. */
  | { readonly state: 'done' }
  /** The service said lately that it does not list this resource for the platform. */
  | { readonly state: 'unsupported' };

/**
 * Takes the lease of a stream's pass; whoever held it before can commit nothing any more.
 *
 * A sync goes on with the pass left open, or opens one with the floor at watermark minus lookback (none for the first). A list
 * without an order is complete only when one run has read all of it, so there a pass of another run begins again. A
 * reconcile goes on with the pass of its own run only: an older one has seen a source that is no more. The pass of a
 * backfill's window was made by its plan; when there is none, the window is done. Throws ConnectionReplaced, ReconcileReplaced.
 */
export async function takePass(
  warehouse: Warehouse,
  input: { pass: PassInHand; resource: Listed; lookbackMilliseconds: number },
): Promise<PassTaken> {
  const { pass, resource } = input;
  return inTransaction(warehouse.pool, async ({ db }) => {
    const { connectionId } = pass;
    // A page that is being landed holds the pass and comes to the stream last: in another order, both would wait for ever.
    await db
      .selectFrom('sync.passes')
      .select('lease')
      .where('connection_id', '=', pass.connectionId)
      .where('stream', '=', pass.stream)
      .where('kind', '=', pass.kind)
      .where('part', '=', pass.part)
      .forUpdate()
      .execute();
    const began = pass.kind === 'reconcile' ? await beginningOf(db, input) : null;
    const { unsupported, neverAnswered, watermark, serviceTime, now } = await openStream(db, input);
    const { status, pages, over } = await unlessRemoved(pass.connectionId, () => openRunStream(db, pass));
    if (over && pass.kind === 'reconcile' && ['running', 'interrupted'].includes(status))
      throw new ReconcileReplaced(connectionId);
    if (status !== 'running') return { state: status === 'unsupported' ? 'unsupported' : 'done' };
    if (unsupported) {
      await db
        .updateTable('sync.run_streams')
        .set({ status: 'unsupported', finished_at: sql<Date>`clock_timestamp()` })
        .where('run_id', '=', pass.runId)
        .where('stream', '=', pass.stream)
        .execute();
      return { state: 'unsupported' };
    }
    const open = await opening[pass.kind](db, { ...input, began });
    if (open === undefined || open.completed) return { state: 'done' };
    return {
      state: 'open',
      cursor: open.cursor,
      floorMilliseconds: open.floor_ms,
      ceilingMilliseconds: open.ceiling_ms,
      servedUntilMilliseconds: open.served_until_ms,
      highestMilliseconds: open.highest_ms,
      watermarkMilliseconds: pass.kind === 'sync' ? watermark : null,
      serviceTime: pass.kind === 'sync' ? serviceTime : null,
      takenAtMilliseconds: now,
      takenOver: open.cursor !== null && pages === 0,
      restarts: open.restarts,
      stoodStill: open.stood_still_in === pass.runId,
      neverAnswered,
    };
  });
}

/**
 * When a reconcile's listing begins, in the order of writes; null when it has begun. After the pass and before the stream, as a page
 * that is landed takes them: in another order, both would wait for ever.
 */
async function beginningOf(
  db: Warehouse['db'],
  { pass, resource }: { pass: PassInHand; resource: Listed },
): Promise<string | null> {
  const begun = await db
    .selectFrom('sync.passes')
    .select('run_id')
    .where('connection_id', '=', pass.connectionId)
    .where('stream', '=', pass.stream)
    .where('kind', '=', 'reconcile')
    .where('run_id', '=', pass.runId)
    .executeTakeFirst();
  if (begun !== undefined) return null;
  return tick(db, { connectionId: pass.connectionId, resource: resource.name });
}

/** Its row is made only where there is none: to know what is kept of the stream may mean to read the whole of it. */
async function openStream(
  db: Warehouse['db'],
  { pass, resource }: { pass: PassInHand; resource: Listed },
): Promise<StreamRead> {
  const { connectionId, stream } = pass;
  const known = await readStream(db, pass);
  if (known !== undefined) return known;
  await unlessRemoved(connectionId, () => openStreams(db, { connectionId, streams: [{ stream, resource }] }));
  const opened = await readStream(db, pass);
  // It has gone since it was opened, with its connection.
  if (opened === undefined) throw new ConnectionReplaced(connectionId);
  return opened;
}

async function readStream(db: Warehouse['db'], pass: PassInHand): Promise<StreamRead | undefined> {
  const { rows } = await sql<{
    unsupported: boolean;
    neverAnswered: boolean;
    watermark: number | null;
    told: number | null;
    ago: number | null;
    now: number;
  }>`
    select ${knownUnsupported} as unsupported,
      listed_at is null and capability <> 'unsupported' as "neverAnswered",
      ceil(extract(epoch from watermark) * 1000)::bigint as watermark,
      floor(extract(epoch from service_time) * 1000)::bigint as told,
      floor(extract(epoch from now.at - service_time_noted_at) * 1000)::bigint as ago,
      floor(extract(epoch from now.at) * 1000)::bigint as now
    from sync.streams, (select clock_timestamp() as at) now
    where connection_id = ${pass.connectionId} and stream = ${pass.stream}
    for update of streams
  `.execute(db);
  const [stream] = rows;
  if (stream === undefined) return undefined;
  const { unsupported, neverAnswered, watermark, told, ago, now } = stream;
  const serviceTime = told === null || ago === null ? null : { milliseconds: told, agoMilliseconds: ago };
  return { unsupported, neverAnswered, watermark, serviceTime, now };
}

interface StreamRead {
  readonly unsupported: boolean;
  readonly neverAnswered: boolean;
  readonly watermark: number | null;
  readonly serviceTime: { readonly milliseconds: number; readonly agoMilliseconds: number } | null;
  readonly now: number;
}

/**
 * The run's row of the stream. An attempt that outlives its run opens none: the next one has closed it as `interrupted`, another reconcile,
 * whose listing it would take, has begun since, or its own workflow has ended it. A reset goes on with what a workflow before it has ended.
 */
async function openRunStream(
  db: Warehouse['db'],
  pass: PassInHand,
): Promise<{ status: string; pages: number; over: boolean }> {
  const reopens = sql<boolean>`(sync.run_streams.status in ('failed', 'cancelled') and not ${isOver(pass)})`;
  return db
    .insertInto('sync.run_streams')
    .values((eb) => ({
      run_id: pass.runId,
      connection_id: pass.connectionId,
      stream: pass.stream,
      status: sql<'running' | 'interrupted'>`case when ${isOver(pass)} then 'interrupted' else 'running' end`,
      // Copied inside the database: a Date would cut its microseconds.
      watermark_before: eb
        .selectFrom('sync.streams')
        .select('watermark')
        .where('connection_id', '=', pass.connectionId)
        .where('stream', '=', pass.stream),
    }))
    .onConflict((conflict) =>
      conflict.columns(['run_id', 'stream']).doUpdateSet((eb) => ({
        // A reset goes on where a run had failed: what had been given up is taken up again. What is done stays as it is.
        status: eb
          .case()
          .when(reopens)
          .then('running' as const)
          .else(eb.ref('sync.run_streams.status'))
          .end(),
        failure_type: sql`case when not ${reopens} then sync.run_streams.failure_type end`,
        failure: sql`case when not ${reopens} then sync.run_streams.failure end`,
      })),
    )
    .returning(['status', 'pages', isOver(pass).as('over')])
    .executeTakeFirstOrThrow();
}

function isOver({ runId, kind, lease }: PassInHand): RawBuilder<boolean> {
  return sql`exists (
    select from sync.runs own
    where own.run_id = ${runId} and (own.status = 'interrupted' or own.status <> 'running'
      and own.temporal_run_id = split_part(${lease}, '/', 1) or ${kind === 'reconcile'} and exists (
      select from sync.runs later
      where later.connection_id = own.connection_id and later.kind = own.kind and later.status = 'running'
        and later.started_at > own.started_at
    ))
  )`;
}

interface OpenPass {
  cursor: string | null;
  floor_ms: number | null;
  ceiling_ms: number | null;
  served_until_ms: number | null;
  highest_ms: number | null;
  restarts: number;
  stood_still_in: string | null;
  completed: boolean;
}

type Opening = (
  db: Warehouse['db'],
  input: { pass: PassInHand; resource: Listed; lookbackMilliseconds: number; began: string | null },
) => Promise<OpenPass | undefined>;

const opening: Record<PassInHand['kind'], Opening> = {
  async sync(db, { pass, resource, lookbackMilliseconds }) {
    const isOrdered = resource.version === 'last_synced_at';
    const goesOn = sql`(${isOrdered} or sync.passes.run_id = excluded.run_id)`;
    const { rows } = await sql<OpenPass>`
      insert into sync.passes (connection_id, stream, kind, run_id, lease, floor, started_at, asked_at)
      select ${pass.connectionId}, ${pass.stream}, 'sync', ${pass.runId}, ${pass.lease},
        watermark - ${lookbackMilliseconds} * interval '1 millisecond', now.at, now.at
      from (select ${afterLastWrite(pass.connectionId, resource.name)} as at) now, sync.streams
      where connection_id = ${pass.connectionId} and stream = ${pass.stream}
      on conflict (connection_id, stream, kind, part) do update set
        restarts = case when sync.passes.run_id = excluded.run_id then sync.passes.restarts else 0 end,
        cursor = case when ${goesOn} then sync.passes.cursor end,
        served_from = case when ${goesOn} then sync.passes.served_from end,
        failing_since = case when sync.passes.run_id = excluded.run_id then sync.passes.failing_since end,
        run_id = excluded.run_id,
        lease = excluded.lease,
        asked_at = excluded.asked_at
      returning ${place}
    `.execute(db);
    return rows[0];
  },
  async reconcile(db, { pass, resource, began }) {
    await sql`
      with old as (
        delete from sync.passes
        where connection_id = ${pass.connectionId} and stream = ${pass.stream} and kind = 'reconcile'
          and run_id <> ${pass.runId}
      )
      delete from sync.listed_pages
      where connection_id = ${pass.connectionId} and stream = ${pass.stream}
        and not exists (
          select from sync.passes
          where connection_id = ${pass.connectionId} and stream = ${pass.stream} and kind = 'reconcile'
            and run_id = ${pass.runId}
        )
    `.execute(db);
    const { rows } = await sql<OpenPass>`
      insert into sync.passes (connection_id, stream, kind, run_id, lease, started_at, asked_at)
      values (
        ${pass.connectionId}, ${pass.stream}, 'reconcile', ${pass.runId}, ${pass.lease},
        coalesce(${began}::timestamptz, clock_timestamp()), ${afterLastWrite(pass.connectionId, resource.name)}
      )
      on conflict (connection_id, stream, kind, part) do update set lease = excluded.lease, asked_at = excluded.asked_at
      returning ${place}
    `.execute(db);
    return rows[0];
  },
  async backfill(db, { pass, resource }) {
    const { rows } = await sql<OpenPass>`
      update sync.passes set
        restarts = case when run_id = ${pass.runId} then restarts else 0 end,
        failing_since = case when run_id = ${pass.runId} then failing_since end,
        run_id = ${pass.runId},
        lease = ${pass.lease},
        asked_at = ${afterLastWrite(pass.connectionId, resource.name)}
      where connection_id = ${pass.connectionId} and stream = ${pass.stream} and kind = 'backfill'
        and part = ${pass.part}
      returning ${place}
    `.execute(db);
    return rows[0];
  },
};

/** `excluded` never shows here: what is returned is the row as it stands. */
const place = sql`
  cursor,
  floor(extract(epoch from floor) * 1000)::bigint as floor_ms,
  ceil(extract(epoch from ceiling) * 1000)::bigint as ceiling_ms,
  floor(extract(epoch from served_until) * 1000)::bigint as served_until_ms,
  floor(extract(epoch from highest_seen) * 1000)::bigint as highest_ms,
  restarts,
  stood_still_in,
  completed_at is not null as completed`;
