import { sql, type Transaction } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';
import type { Database } from '../tables/database.ts';
import { milliseconds } from './interval.ts';

/** What the schedules of a connection are to be. Times between runs in milliseconds; null: no schedule. */
export interface ScheduleState {
  readonly connectionId: string;
  readonly apiAddress: string;
  readonly syncEvery: number | null;
  readonly reconcileEvery: number | null;
  readonly backfillEvery: number | null;
  readonly backfillLast: number | null;
  /** Null: not paused. */
  readonly pausedWhy: string | null;
  /** Whether Temporal has been told of this pause. */
  readonly pauseReachedSchedules: boolean;
  readonly failures: number;
}

/** What may be written down about the schedules while nobody else changes them. */
export interface ScheduleNotes {
  pauseReached(reached: boolean): Promise<void>;
  resumed(): Promise<void>;
}

/**
 * Lets `work` bring the schedules of a connection to their state: one process at a time, so that what is told to Temporal
 * last is what was written here last. The state is undefined when there is no such connection.
 */
export async function withScheduleState<Result>(
  { db }: Warehouse,
  connectionId: string,
  work: (state: ScheduleState | undefined, notes: ScheduleNotes) => Promise<Result>,
): Promise<Result> {
  return db.transaction().execute(async (transaction) => {
    await sql`select sync.lock('schedules/' || ${connectionId})`.execute(transaction);
    const state = await readState(transaction, connectionId);
    return work(state, {
      pauseReached: async (reached) => {
        await transaction
          .updateTable('sync.connections')
          .set({ pause_reached_schedules: reached })
          .where('connection_id', '=', connectionId)
          .execute();
      },
      resumed: async () => {
        await transaction
          .updateTable('sync.connections')
          .set(notPaused)
          .where('connection_id', '=', connectionId)
          .execute();
      },
    });
  });
}

/** Columns of a connection that is not paused. Its webhooks are applied again, too, and its token is tried again. */
export const notPaused = {
  paused_at: null,
  paused_why: null,
  paused_by: null,
  webhooks_after: null,
  refused_token: null,
} as const;

async function readState(
  db: Transaction<Database>,
  connectionId: string,
): Promise<ScheduleState | undefined> {
  return db
    .selectFrom('sync.connections')
    .select([
      'connection_id as connectionId',
      'api_address as apiAddress',
      milliseconds('sync_every').as('syncEvery'),
      milliseconds('reconcile_every').as('reconcileEvery'),
      milliseconds('backfill_every').as('backfillEvery'),
      milliseconds('backfill_last').as('backfillLast'),
      'pause_reached_schedules as pauseReachedSchedules',
      'failures',
    ])
    .select(
      sql<string | null>`case when paused_at is not null then coalesce(paused_why, '') end`.as('pausedWhy'),
    )
    .where('connection_id', '=', connectionId)
    .executeTakeFirst();
}
