import { sql, type RawBuilder } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';
import type { PassInHand } from './pass.ts';

/**
 * Opens the run's row of the stream. An attempt that outlives its run does not reopen it: the next run has closed it as `interrupted`, another
 * reconcile, whose listing it would take, has begun since, or its own workflow has ended it. A reset continues what an earlier workflow has ended.
 */
export async function openRunStream(
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
        // A reset goes on where a run had failed: streams that were given up are taken up again, and completed ones stay as they are.
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
