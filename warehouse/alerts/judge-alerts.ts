import { sql, type RawBuilder } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';
import { backlogInWords, backlogRemedy, isLate, type Backlog } from './backlog.ts';
import { alertConditions } from './alert-conditions.ts';

/** Facts that only Temporal knows. */
export interface TemporalState {
  /** Connections whose schedule is paused in Temporal. Like connections paused in the database, they are not stale. */
  readonly pausedElsewhere: readonly string[];
  /** Workflows that no worker can continue. Undefined: not known, so their alerts stay as they are. */
  readonly stuck?: readonly StuckWorkflow[] | undefined;
  /** Undefined: not known, so its alert stays as it is. */
  readonly backlog?: Backlog | undefined;
}

/** A workflow that no worker can continue: Temporal retries it again and again, and it fails each time. */
export interface StuckWorkflow {
  readonly workflowId: string;
  /** Undefined if the workflow belongs to no single connection, or the namespace lacks our search attributes. */
  readonly connection: string | undefined;
  /** The cause that Temporal names, like `WorkflowTaskFailedCauseNonDeterminismError`; undefined if it names none. */
  readonly cause: string | undefined;
}

/**
 * Makes the open alerts match what is wrong now: opens alerts, updates messages, resolves alerts. It is a single stateless statement, so it is
 * idempotent and safe to run concurrently.
 */
export async function judgeAlerts(
  { db }: Warehouse,
  { pausedElsewhere, stuck, backlog }: TemporalState,
): Promise<void> {
  // While work is late, no new stale alerts are opened: the backlog alert stands for them; open ones stay.
  const late = backlog !== undefined && isLate(backlog) ? backlogInWords(backlog) : undefined;
  await sql`
    with wrong as materialized (
      ${sql.join([...Object.values(alertConditions), stuckWorkflows(stuck ?? []), lateWork(late)], sql` union all `)}
    ), current as (
      select * from wrong
      where not (kind = 'stale' and connection_id = any(${[...pausedElsewhere]}::text[]))
    ), resolved as (
      update sync.alerts a set resolved_at = clock_timestamp()
      where a.resolved_at is null
        and (a.kind <> 'stuck' or ${stuck !== undefined}) and (a.kind <> 'backlog' or ${backlog !== undefined})
        and not exists (
          select from current c where c.kind = a.kind and c.connection_id is not distinct from a.connection_id
        )
    )
    insert into sync.alerts as a (kind, connection_id, message, remedy)
    select kind, connection_id, message, remedy from current
    where not (kind = 'stale' and ${late !== undefined})
    on conflict (kind, coalesce(connection_id, '')) where resolved_at is null
    do update set message = excluded.message, remedy = excluded.remedy
    where (a.message, a.remedy) is distinct from (excluded.message, excluded.remedy)
  `.execute(db);
}

/** One alert for each connection, and one for all workflows that belong to none. */
function stuckWorkflows(stuck: readonly StuckWorkflow[]): RawBuilder<unknown> {
  const [ids, connections, causes] = [
    stuck.map(({ workflowId }) => workflowId),
    stuck.map(({ connection }) => connection ?? null),
    stuck.map(({ cause }) => cause ?? 'no cause is known'),
  ];
  return sql`
    select 'stuck', s.connection_id,
      format('%sTemporal has workers retry %s again and again, and it fails each time.',
        coalesce(s.connection_id || ': ', ''),
        string_agg(format('the workflow %s (%s)', s.workflow_id, s.cause), ' and ' order by s.workflow_id)),
      'Run the same, newest release in every worker: then it continues by itself. If it still fails, save its history from the '
        'Temporal Web UI for a report, then end it there (Terminate): the next run picks up what it left, and loses nothing.'
    from (
      select workflow_id, cause, c.connection_id
      from unnest(${ids}::text[], ${connections}::text[], ${causes}::text[]) as told (workflow_id, connection, cause)
      left join sync.connections c on c.connection_id = told.connection
    ) s
    group by s.connection_id`;
}

function lateWork(late: string | undefined): RawBuilder<unknown> {
  return sql`select 'backlog', null, ${late ?? null} || '.', ${backlogRemedy}::text where ${late !== undefined}`;
}
