import { sql, type RawBuilder } from 'kysely';
import { inTransaction } from '../transactions/in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { notPaused, webhooksDue } from './schedule-state.ts';

export interface EndedSync {
  connectionId: string;
  runId: string;
  status: 'succeeded' | 'partial' | 'failed' | 'cancelled';
  /** Why the connection is to pause until a person has fixed it; null: it is not to pause. */
  pauseWhy: string | null;
}

/**
 * Counts a connection's consecutive failures and pauses it if only a person can fix it; a successful sync ends both. A pause made by a person stays.
 * An end may be noted late, by an attempt after one that died, so a run that ended before another one, or whose connection was removed, is ignored.
 * Returns whether the schedules must be updated; after an idle sync they need not be, and nothing is written.
 */
export async function noteSyncEnd(warehouse: Warehouse, ended: EndedSync): Promise<boolean> {
  if (ended.status === 'cancelled') return false;
  return ended.status === 'failed' ? noteFailure(warehouse, ended) : noteSuccess(warehouse, ended);
}

async function noteFailure({ pool }: Warehouse, { connectionId, runId, pauseWhy }: EndedSync): Promise<true> {
  await inTransaction(pool, async ({ db }) => {
    await db
      .updateTable('sync.connections')
      .set((eb) => ({ failures: eb('failures', '+', 1), failed_run_id: runId }))
      .where('connection_id', '=', connectionId)
      .where('failed_run_id', 'is distinct from', runId)
      .where(isNewest(runId))
      .execute();
    if (pauseWhy === null) return;
    await db
      .updateTable('sync.connections')
      .set({
        paused_at: sql<Date>`clock_timestamp()`,
        paused_why: pauseWhy,
        paused_by: 'daybook',
        pause_reached_schedules: false,
      })
      .where('connection_id', '=', connectionId)
      .where('paused_at', 'is', null)
      .where(isNewest(runId))
      .execute();
  });
  return true;
}

/**
 * Notes a success. A partial run counts only if it read something: finding everything unchanged proves little. A run of nothing but lists that the
 * platform is known not to have proves nothing, because it may have sent no request.
 */
async function noteSuccess(
  { pool }: Warehouse,
  { connectionId, runId, status }: EndedSync,
): Promise<boolean> {
  return inTransaction(pool, async ({ db }) => {
    const noted = await db
      .updateTable('sync.connections')
      .set({ failures: 0, webhooks_after: webhooksDue })
      .where('connection_id', '=', connectionId)
      .where(isNewest(runId))
      // A token that opens another company cannot have succeeded; it was set after the run.
      .where('refused_token', 'is', null)
      .where((eb) =>
        eb.or([
          eb('failures', '>', 0),
          eb('paused_by', '=', 'daybook'),
          eb('webhooks_after', '>', webhooksDue),
        ]),
      )
      .where(
        sql<boolean>`(
          ${status} = 'succeeded' and ${hasRead(runId)}
          or exists (select from sync.run_streams where run_id = ${runId} and read > 0)
        )`,
      )
      .returning('paused_by')
      .executeTakeFirst();
    if (noted?.paused_by === 'daybook') {
      await db
        .updateTable('sync.connections')
        .set(notPaused)
        .where('connection_id', '=', connectionId)
        .execute();
    }
    return noted !== undefined;
  });
}

/** A run that was reset has no rows of what its predecessor read. */
function hasRead(runId: string): RawBuilder<boolean> {
  return sql`coalesce((select bool_or(status <> 'unsupported') from sync.run_streams where run_id = ${runId}), true)`;
}

/** Whether the run is the newest ended sync of a row of `sync.connections`. Starts are in the order of syncs. */
function isNewest(runId: string): RawBuilder<boolean> {
  return sql`exists (
    select from sync.runs run
    where run.run_id = ${runId} and run.connection_id = connections.connection_id and not exists (
      select from sync.runs later
      where later.connection_id = run.connection_id and later.kind = 'sync' and later.started_at > run.started_at
        and later.status in ('succeeded', 'partial', 'failed')
    )
  )`;
}
