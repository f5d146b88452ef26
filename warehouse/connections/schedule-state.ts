import { sql, type Kysely } from 'kysely';
import { inTransaction } from '../transactions/in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import type { Database } from '../tables/database.ts';
import { milliseconds } from './interval.ts';

/** The state that a connection's schedules should have. Times between runs are in milliseconds; null: no schedule. */
export interface ScheduleState {
  readonly connectionId: string;
  readonly apiAddress: string;
  readonly syncEvery: number | null;
  /** Factor by which `syncEvery` is stretched, so that the syncs of all connections fit the API budget. */
  readonly syncStretch: number;
  readonly reconcileEvery: number | null;
  readonly backfillEvery: number | null;
  readonly backfillLast: number | null;
  /** Null: not paused. */
  readonly pausedWhy: string | null;
  readonly pausedAt: Date | null;
  /** Whether this pause has reached Temporal. */
  readonly pauseReachedSchedules: boolean;
  readonly failures: number;
  /** Name of the state that Temporal was last given, see `SchedulesSettled`; null: not recorded. */
  readonly settledAs: string | null;
  /** When the complete schedules were last read from Temporal. */
  readonly checkedAt: Date | null;
}

/** The state of a connection's schedules that Temporal was given. */
export interface SchedulesSettled {
  readonly connectionId: string;
  /** Name of the state; equal names mean equal states. */
  readonly as: string;
  /** Whether the state includes a pause. */
  readonly pauseReached: boolean;
  /** How many times the schedules were due and did not fire, since they have existed in Temporal. */
  readonly missed: number;
}

/** The notes that may be recorded about schedules while they are locked. */
export interface ScheduleNotes {
  settled(settled: readonly SchedulesSettled[]): Promise<void>;
  resumed(connectionId: string): Promise<void>;
}

/**
 * Lets `work` bring the schedules of a connection to their state. One process does so at a time, so that Temporal's last update matches the last one
 * recorded here. The state is undefined if there is no such connection.
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

/** The same for several connections; the map lacks those that do not exist. */
export async function withScheduleStates<Result>(
  { pool }: Warehouse,
  connections: readonly string[],
  work: (states: ReadonlyMap<string, ScheduleState>, notes: ScheduleNotes) => Promise<Result>,
): Promise<Result> {
  return inTransaction(pool, async ({ db }) => {
    // Locks in one order, so that two processes that lock several cannot deadlock.
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

/** Reads the current state without a lock; undefined if there is no such connection. */
export async function readScheduleState(
  { db }: Warehouse,
  connectionId: string,
): Promise<ScheduleState | undefined> {
  return scheduleStates(db).where('connection_id', '=', connectionId).executeTakeFirst();
}

/** Reads a page of states: the next ones after the name `after`, ordered by name. */
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

/** Records schedules as listed, for connections without a recorded state. */
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

/** Writes a row if it says something new, otherwise at most once an hour. */
async function noteSettled(db: Warehouse['db'], settled: readonly SchedulesSettled[]): Promise<void> {
  if (settled.length === 0) return;
  await sql`
    update sync.connections c set
      schedules_settled = t.told, schedules_checked_at = clock_timestamp(), pause_reached_schedules = t.reached,
      ticks_missed = t.missed,
      -- Ticks that were missed before the first look get no time.
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
