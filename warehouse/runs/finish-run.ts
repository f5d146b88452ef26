import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';
import type { RunStatus } from '../tables/runs.ts';

export interface StreamFailure {
  stream: string;
  type: string;
  message: string;
}

export interface FinishedRun {
  status: Exclude<RunStatus, 'running' | 'interrupted'>;
  failure: string | null;
}

/**
 * Closes the run with what is true of it, decided from what its streams did: `succeeded` only when every stream is
 * complete and nothing is in quarantine; `failed` when no stream got through; `partial` in between. A run in which no list at
 * all is supported has not read anything, so it failed.
 */
export async function finishRun(
  { db }: Warehouse,
  input: {
    runId: string;
    streams: readonly string[];
    failures: readonly StreamFailure[];
    cancelled: boolean;
  },
): Promise<FinishedRun> {
  const { runId, streams, failures, cancelled } = input;
  return db.transaction().execute(async (transaction) => {
    const now = sql<Date>`clock_timestamp()`;
    const { connection_id: connectionId } = await transaction
      .selectFrom('sync.runs')
      .select('connection_id')
      .where('run_id', '=', runId)
      .executeTakeFirstOrThrow();
    for (const { stream, type, message } of failures) {
      const failed = { status: 'failed', failure_type: type, failure: message, finished_at: now } as const;
      await transaction
        .insertInto('sync.run_streams')
        .values({ run_id: runId, connection_id: connectionId ?? '', stream, ...failed })
        .onConflict((conflict) => conflict.columns(['run_id', 'stream']).doUpdateSet(failed))
        .execute();
    }
    await transaction
      .updateTable('sync.run_streams')
      .set({ status: 'cancelled', finished_at: now })
      .where('run_id', '=', runId)
      .where('status', '=', 'running')
      .execute();
    const read = await transaction
      .selectFrom('sync.run_streams')
      .select(['stream', 'status'])
      .where('run_id', '=', runId)
      .execute();
    const finished = cancelled
      ? ({ status: 'cancelled', failure: null } as const)
      : outcomeOf(read, { streams, failures });
    await transaction
      .updateTable('sync.runs')
      .set({ ...finished, finished_at: now })
      .where('run_id', '=', runId)
      .execute();
    return finished;
  });
}

function outcomeOf(
  read: readonly { stream: string; status: string }[],
  { streams, failures }: { streams: readonly string[]; failures: readonly StreamFailure[] },
): FinishedRun {
  const statuses = streams.map((stream) => read.find((row) => row.stream === stream)?.status ?? 'failed');
  if (statuses.every((status) => status === 'unsupported')) {
    return {
      status: 'failed',
      failure:
        'The service lists none of the resources for this connection. Check DAYBOOK_API_URL and the platform.',
    };
  }
  const failure = failures.length > 0 ? [...new Set(failures.map(({ message }) => message))].join(' ') : null;
  const through = statuses.filter((status) => status === 'succeeded' || status === 'partial');
  if (through.length === 0) return { status: 'failed', failure };
  const complete = statuses.every((status) => status === 'succeeded' || status === 'unsupported');
  return { status: complete ? 'succeeded' : 'partial', failure };
}
