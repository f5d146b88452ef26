import { sql, type Kysely } from 'kysely';
import { inTransaction } from '../transactions/in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import type { Database } from '../tables/database.ts';
import { milliseconds } from './interval.ts';

/** What the schedules of a connection are to be. Times between runs in milliseconds; null: no schedule. */
export interface ScheduleState {
  readonly connectionId: string;
  readonly apiAddress: string;
  readonly syncEvery: number | null;
  /** How many times `syncEvery` two syncs are apart, so that those of all connections fit the API budget. */
  readonly syncStretch: number;
  readonly reconcileEvery: number | null;
  readonly backfillEvery: number | null;
  readonly backfillLast: number | null;
  /** Null: not paused. */
  readonly pausedWhy: string | null;
  readonly pausedAt: Date | null;
  /** Whether Temporal has been told of this pause. */
  readonly pauseReachedSchedules: boolean;
  readonly failures: number;
  /** Names what Temporal was last told, see `SchedulesSettled`; null: nobody has written it down. */
  readonly settledAs: string | null;
  /** When Temporal was last asked for all there is of its schedules. */
  readonly checkedAt: Date | null;
}

/** What Temporal was told of the schedules of a connection. */
export interface SchedulesSettled {
  readonly connectionId: string;
  /** Names it: what is to be told later and has the same name is the same. */
  readonly as: string;
  /** Whether it was told of a pause. */
  readonly pauseReached: boolean;
  /** How many times they were due and did not fire, since Temporal has them. */
  readonly missed: number;
}

/** What may be written down about the schedules while nobody else changes them. */
export interface ScheduleNotes {
  settled(settled: readonly SchedulesSettled[]): Promise<void>;
  resumed(connectionId: string): Promise<void>;
}

/**
 * Lets `work` bring the schedules of a connection to their state: one process at a time, so that what is told to Temporal
 * last is what was written here last. The state is undefined when there is no such connection.
 */
export async function withScheduleState<Result>(
  warehouse: Warehouse,
  connectionId: string,
  work: (state: ScheduleState | undefined, notes: ScheduleNotes) => Promise<Result>,
): Promise<Result> {
  return withScheduleStates(warehouse, [connectionId], (states, notes) =>
    work(states.get(connectionId), notes),
  );
}

/** The same for several; those that are not there are not in the map. */
export async function withScheduleStates<Result>(
  { pool }: Warehouse,
  connections: readonly string[],
  work: (states: ReadonlyMap<string, ScheduleState>, notes: ScheduleNotes) => Promise<Result>,
): Promise<Result> {
  return inTransaction(pool, async ({ db }) => {
    // In one order, so that two who lock several cannot deadlock.
    await sql`
      select sync.lock('schedules/' || connection_id)
      from (select unnest(${connections}::text[]) as connection_id order by 1) named
    `.execute(db);
    const states = await scheduleStates(db)
      .where('connection_id', '=', sql<string>`any(${connections}::text[])`)
      .execute();
    return work(new Map(states.map((state) => [state.connectionId, state])), {
      settled: (settled) => noteSettled(db, settled),
      resumed: async (connectionId) => {
        await db
          .updateTable('sync.connections')
          .set(notPaused)
          .where('connection_id', '=', connectionId)
          .execute();
      },
    });
  });
}

/** As it is at this moment, with nobody held up; undefined when there is no such connection. */
export async function readScheduleState(
  { db }: Warehouse,
  connectionId: string,
): Promise<ScheduleState | undefined> {
  return scheduleStates(db).where('connection_id', '=', connectionId).executeTakeFirst();
}

/** By the page and by name: those after `after`. */
export async function readScheduleStates(
  { db }: Warehouse,
  { after, limit }: { after: string; limit: number },
): Promise<ScheduleState[]> {
  return scheduleStates(db)
    .where('connection_id', '>', after)
    .orderBy('connection_id')
    .limit(limit)
    .execute();
}

/** Writes down that schedules are as listed, of connections of which nobody has written anything down. */
export async function noteSettledAsListed(
  { db }: Warehouse,
  settled: readonly Pick<SchedulesSettled, 'connectionId' | 'as'>[],
): Promise<void> {
  await sql`
    update sync.connections c set schedules_settled = t.told
    from unnest(${settled.map(({ connectionId }) => connectionId)}::text[], ${settled.map(({ as }) => as)}::text[]) t (name, told)
    where c.connection_id = t.name and c.schedules_settled is null
  `.execute(db);
}

/** A row is written when it says something new, and once an hour at most when it does not. */
async function noteSettled(db: Warehouse['db'], settled: readonly SchedulesSettled[]): Promise<void> {
  if (settled.length === 0) return;
  await sql`
    update sync.connections c set
      schedules_settled = t.told, schedules_checked_at = clock_timestamp(), pause_reached_schedules = t.reached,
      ticks_missed = t.missed,
      -- What was missed before anybody looked is old.
      ticks_missed_at = case when t.missed > c.ticks_missed then clock_timestamp() else c.ticks_missed_at end
    from unnest(
      ${settled.map(({ connectionId }) => connectionId)}::text[],
      ${settled.map(({ as }) => as)}::text[],
      ${settled.map(({ pauseReached }) => pauseReached)}::boolean[],
      ${settled.map(({ missed }) => missed)}::int[]
    ) t (name, told, reached, missed)
    where c.connection_id = t.name and (
      (c.schedules_settled, c.pause_reached_schedules, c.ticks_missed) is distinct from (t.told, t.reached, t.missed)
      or c.schedules_checked_at is null or c.schedules_checked_at < clock_timestamp() - interval '1 hour'
    )
  `.execute(db);
}

/** The time at which a hold or a pause ends: its webhooks are due, and only from now on do they wait too long. */
export const webhooksDue = sql<Date>`clock_timestamp()`;

/** Columns of a connection that is not paused. Its webhooks are applied again, too, and its token is tried again. */
export const notPaused = {
  paused_at: null,
  paused_why: null,
  paused_by: null,
  webhooks_after: webhooksDue,
  refused_token: null,
} as const;

function scheduleStates(db: Kysely<Database>) {
  return db
    .selectFrom('sync.connections')
    .select([
      'connection_id as connectionId',
      'api_address as apiAddress',
      milliseconds('sync_every').as('syncEvery'),
      'sync_stretch as syncStretch',
      milliseconds('reconcile_every').as('reconcileEvery'),
      milliseconds('backfill_every').as('backfillEvery'),
      milliseconds('backfill_last').as('backfillLast'),
      'pause_reached_schedules as pauseReachedSchedules',
      'failures',
      'schedules_settled as settledAs',
      'schedules_checked_at as checkedAt',
      'paused_at as pausedAt',
    ])
    .select(
      sql<string | null>`case when paused_at is not null then coalesce(paused_why, '') end`.as('pausedWhy'),
    );
}
