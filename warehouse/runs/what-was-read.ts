import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';
import { unlistedStreams } from '../reconcile/unlisted-streams.ts';
import type { CountedStream, StreamOutcome } from './judge-run.ts';

/**
 * Marks streams as not read if the run still has a pass for them, whatever the workflow remembers: the last commits are lost with the database that
 * they were made in.
 */
export async function readToEnd(
  db: Warehouse['db'],
  { runId, outcomes }: { runId: string; outcomes: readonly StreamOutcome[] },
): Promise<readonly StreamOutcome[]> {
  const rows = await db
    .selectFrom('sync.run_streams as s')
    .innerJoin('sync.passes as p', (join) =>
      join.onRef('p.run_id', '=', 's.run_id').onRef('p.stream', '=', 's.stream'),
    )
    .distinct()
    .select('s.stream')
    .where('s.run_id', '=', runId)
    .where('s.status', '=', 'running')
    .execute();
  const open = rows.map(({ stream }) => stream);
  return outcomes.map((outcome) =>
    outcome.state === 'done' && open.includes(outcome.stream) ? notRead(outcome.stream) : outcome,
  );
}

/** Marks streams of a reconcile as not proved if their proof is not written: what the workflow remembers is not enough. */
export async function provedOnes(
  db: Warehouse['db'],
  input: { runId: string; outcomes: readonly StreamOutcome[] },
): Promise<readonly StreamOutcome[]> {
  const rows = await db
    .selectFrom('sync.run_streams')
    .select('stream')
    .where('run_id', '=', input.runId)
    .where('status', '=', 'running')
    .where('totals', 'is', null)
    .execute();
  const unproved = rows.map(({ stream }) => stream);
  const outcomes = await withUnlisted(db, input);
  return outcomes.map((outcome) =>
    outcome.state === 'done' && unproved.includes(outcome.stream) ? notProved(outcome.stream) : outcome,
  );
}

/**
 * Marks streams as failed that are not offered although the warehouse holds their records. A sync may ignore such a list, but a proof that leaves
 * them out is none.
 */
async function withUnlisted(
  db: Warehouse['db'],
  { runId, outcomes }: { runId: string; outcomes: readonly StreamOutcome[] },
): Promise<readonly StreamOutcome[]> {
  const streams = outcomes.filter(({ state }) => state === 'unsupported').map(({ stream }) => stream);
  const unlisted = await unlistedStreams(db, { runId, streams });
  return outcomes.map((outcome) => {
    const { stream } = outcome;
    if (!unlisted.includes(stream)) return outcome;
    const failure =
      `The service does not list ${stream} of this connection (404), although the warehouse holds records of that resource, ` +
      'so nothing was compared. Ask the finance API why the list is gone; it is asked for again once a day.';
    return { stream, state: 'failed', failureType: 'NotListed', failure };
  });
}

/**
 * Reads how the streams ended that a reset run has not read itself, from the rows of the runs that read them. Runs from before the execution that was
 * reset do not count: the rows that a restored database has lost were not read by an earlier one.
 */
export async function readBefore(
  db: Warehouse['db'],
  input: { runId: string; streams: readonly string[]; firstExecutionRunId: string | undefined },
): Promise<CountedStream[]> {
  const { runId, streams, firstExecutionRunId } = input;
  if (streams.length === 0) return [];
  const first = sql<Date>`(
    select min(first.started_at) from sync.runs first
    where first.workflow_id = reset.workflow_id and ${firstExecutionRunId ?? null}::text in (first.run_id, first.temporal_run_id)
  )`;
  const rows = await db
    .selectFrom('sync.runs as reset')
    .innerJoin('sync.runs as run', (join) =>
      join
        .onRef('run.connection_id', '=', 'reset.connection_id')
        .onRef('run.kind', '=', 'reset.kind')
        .onRef('run.workflow_id', '=', 'reset.workflow_id'),
    )
    .innerJoin('sync.run_streams as read', 'read.run_id', 'run.run_id')
    .distinctOn('read.stream')
    .select(['read.stream', 'read.status', 'read.quarantined', 'read.failure_type', 'read.failure'])
    .where('reset.run_id', '=', runId)
    .where('read.stream', 'in', streams)
    .where((eb) => eb.or([eb.lit(firstExecutionRunId === undefined), eb('run.started_at', '>=', first)]))
    // A backfill's windows stay done, however its run ended. A sync has closed the streams that it has read, and a reconcile has proved them.
    .where((eb) =>
      eb.or([
        eb('run.kind', '=', 'backfill'),
        eb.and([
          eb('read.status', 'in', ['succeeded', 'partial']),
          eb.or([eb('run.kind', '<>', 'reconcile'), eb('read.totals', 'is not', null)]),
        ]),
      ]),
    )
    .orderBy('read.stream')
    // Several runs may have read a backfill's windows: what any of them left in quarantine counts.
    .orderBy(sql`run.kind = 'backfill' and read.quarantined > 0`, 'desc')
    // A run that was ended early may have a stream that is done although its row says interrupted.
    .orderBy(sql`read.status in ('succeeded', 'partial')`, 'desc')
    .orderBy('run.started_at', 'desc')
    .execute();
  return rows.map(({ quarantined, ...row }) => {
    if (row.status === 'partial') return row;
    const status = quarantined > 0 ? 'partial' : 'succeeded';
    return { stream: row.stream, status, failure_type: null, failure: null };
  });
}

/** The workflow remembers that the stream was read, but the warehouse does not: rows were lost, with a restored database or a removal. */
export function notRead(stream: string): StreamOutcome {
  const failure = `That ${stream} was read is not written in the warehouse, so it does not count. Run it again.`;
  return { stream, state: 'failed', failureType: 'NotRead', failure };
}

/** The listing is gone and there is no proof of it: an attempt of another run took it. */
function notProved(stream: string): StreamOutcome {
  const failure = `What was listed of ${stream} is gone before it was compared, so nothing is proved. Run the reconcile again.`;
  return { stream, state: 'failed', failureType: 'NotProved', failure };
}
