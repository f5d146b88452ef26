import { sql } from 'kysely';
import { inTransaction } from '../transactions/in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { ConnectionReplaced, ReconcileReplaced } from '../errors.ts';
import { knownUnsupported } from './known-unsupported.ts';
import { tick } from '../clock/resource-clock.ts';
import { unlessRemoved } from '../runs/unless-removed.ts';
import { openPass } from './open-pass.ts';
import { openRunStream } from './open-run-stream.ts';
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
  const { pass } = input;
  return inTransaction(warehouse.pool, async ({ db }) => {
    const { connectionId } = pass;
    // The pass before the stream, as a page that lands locks them: one order for all, so they cannot deadlock.
    await db
      .selectFrom('sync.passes')
      .select('lease')
      .where('connection_id', '=', pass.connectionId)
      .where('stream', '=', pass.stream)
      .where('kind', '=', pass.kind)
      .where('part', '=', pass.part)
      .forUpdate()
      .execute();
    const began = pass.kind === 'reconcile' ? await takeListingStart(db, input) : null;
    const { unsupported, neverAnswered, watermark, serviceTime, now } = await openStream(db, input);
    const { status, pages, over } = await unlessRemoved(connectionId, () => openRunStream(db, pass));
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
    const open = await openPass[pass.kind](db, { ...input, began });
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
 * When a reconcile's listing begins, in the order of writes; null when it has begun. Locks the resource after the pass and before the stream,
 * as a page that lands does: one order for all, so they cannot deadlock.
 */
async function takeListingStart(
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
): Promise<StreamKnown> {
  const { connectionId, stream } = pass;
  const known = await readStream(db, pass);
  if (known !== undefined) return known;
  await unlessRemoved(connectionId, () => openStreams(db, { connectionId, streams: [{ stream, resource }] }));
  const opened = await readStream(db, pass);
  // It has gone since it was opened, with its connection.
  if (opened === undefined) throw new ConnectionReplaced(connectionId);
  return opened;
}

async function readStream(db: Warehouse['db'], pass: PassInHand): Promise<StreamKnown | undefined> {
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

interface StreamKnown {
  readonly unsupported: boolean;
  readonly neverAnswered: boolean;
  readonly watermark: number | null;
  readonly serviceTime: { readonly milliseconds: number; readonly agoMilliseconds: number } | null;
  readonly now: number;
}
