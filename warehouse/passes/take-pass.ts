import { sql } from 'kysely';
import { inTransaction } from '../transactions/in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { ConnectionReplaced, ReconcileReplaced } from '../errors.ts';
import { knownUnsupported } from './known-unsupported.ts';
import { takeWriteTime } from '../clock/resource-clock.ts';
import { unlessRemoved } from '../runs/unless-removed.ts';
import { openPass } from './open-pass.ts';
import { openRunStream } from './open-run-stream.ts';
import { openStreams } from './open-streams.ts';
import type { Listed, PassInHand } from './pass.ts';

/** The point at which a reading of a stream continues, or the reason why there is nothing to read. */
export type PassTaken =
  | {
      readonly state: 'open';
      readonly cursor: string | null;
      /** Limits of the reading, in Unix milliseconds. */
      readonly floorMilliseconds: number | null;
      readonly ceilingMilliseconds: number | null;
      /** The service's time at its latest page; null before the first. */
      readonly servedUntilMilliseconds: number | null;
      /** The newest version of its pages; null before the first. */
      readonly highestMilliseconds: number | null;
      /** For a sync: the watermark that its floor comes from. */
      readonly watermarkMilliseconds: number | null;
      /** For a sync: the service's time with the newest page of any sync, and how long ago that is by our clock. */
      readonly serviceTime: { readonly milliseconds: number; readonly agoMilliseconds: number } | null;
      /** The time of the database when the pass was taken, in Unix milliseconds. */
      readonly takenAtMilliseconds: number;
      /** Another run left the pass at a page, and this run has read none. */
      readonly takenOver: boolean;
      /** How often the pass has restarted in this run. */
      readonly restarts: number;
      /** The pass stood still earlier in this run, and restarted. */
      readonly stoodStill: boolean;
      /** The list never returned a page, and is not recorded as one that the service does not offer. */
      readonly neverAnswered: boolean;
    }
  /** This run is done with the stream already, in an earlier attempt. */
  | { readonly state: 'done' }
  /** The service recently said that it does not list this resource for the platform. */
  | { readonly state: 'unsupported' };

/**
 * Takes the lease of a stream's pass; its previous holder can commit nothing any more.
 *
 * A sync continues the open pass, or opens one with the floor at watermark minus lookback (none for the first). A list without an order is complete
 * only if one run has read all of it, so there a pass of another run begins again. A reconcile continues only a pass of its own run, because an older
 * one has seen an outdated source. The pass of a backfill's window was created by its plan; if there is none, the window is done. Throws
 * ConnectionReplaced, ReconcileReplaced.
 */
export async function takePass(
  warehouse: Warehouse,
  input: { pass: PassInHand; resource: Listed; lookbackMilliseconds: number },
): Promise<PassTaken> {
  const { pass } = input;
  return inTransaction(warehouse.pool, async ({ db }) => {
    const { connectionId } = pass;
    // The pass is locked before the stream, in the same order as by the landing of a page, so they cannot deadlock.
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
 * Returns when a reconcile's listing begins, in the order of writes; null if it has begun. Locks the resource after the pass and before the stream,
 * in the same order as the landing of a page, so they cannot deadlock.
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
  return takeWriteTime(db, { connectionId: pass.connectionId, resource: resource.name });
}

/** Creates the row only if there is none: finding out what is kept of the stream may mean reading all of it. */
async function openStream(
  db: Warehouse['db'],
  { pass, resource }: { pass: PassInHand; resource: Listed },
): Promise<StreamKnown> {
  const { connectionId, stream } = pass;
  const known = await readStream(db, pass);
  if (known !== undefined) return known;
  await unlessRemoved(connectionId, () => openStreams(db, { connectionId, streams: [{ stream, resource }] }));
  const opened = await readStream(db, pass);
  // The row was deleted after it was opened, with its connection.
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
