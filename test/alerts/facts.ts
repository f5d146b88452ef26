import { randomUUID } from 'node:crypto';
import { noteSyncEnd } from '../../warehouse/connections/note-sync-end.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import type { RunKind, RunStatus } from '../../warehouse/tables/runs.ts';

/** Records a run that began and ended now, and returns its id. */
export async function addRun(
  { db }: Warehouse,
  run: {
    connection: string;
    kind?: RunKind;
    status: RunStatus;
    failure?: string;
    streams?: readonly { stream: string; status: RunStatus; type: string | null; failure: string | null }[];
  },
): Promise<string> {
  const runId = randomUUID();
  const kind = run.kind ?? 'sync';
  await db
    .insertInto('sync.runs')
    .values({
      run_id: runId,
      connection_id: run.connection,
      kind,
      status: run.status,
      workflow_id: `${kind}/${run.connection}`,
      temporal_run_id: runId,
      reason: 'test',
      failure: run.failure ?? null,
      finished_at: run.status === 'running' ? null : new Date(),
    })
    .execute();
  for (const { stream, status, type, failure } of run.streams ?? []) {
    await db
      .insertInto('sync.run_streams')
      .values({ run_id: runId, connection_id: run.connection, stream, status, failure_type: type, failure })
      .execute();
  }
  return runId;
}

/** Makes a sync of the connection fail, and pauses the connection if a reason is given. */
export async function failSync(
  warehouse: Warehouse,
  connection: string,
  failure: string,
  { pauseWhy = null }: { pauseWhy?: string | null } = {},
): Promise<void> {
  const runId = await addRun(warehouse, { connection, status: 'failed', failure });
  await noteSyncEnd(warehouse, { connectionId: connection, runId, status: 'failed', pauseWhy });
}

/** Makes a sync of the connection succeed. */
export async function succeedSync(warehouse: Warehouse, connection: string): Promise<void> {
  const runId = await addRun(warehouse, { connection, status: 'succeeded' });
  await noteSyncEnd(warehouse, { connectionId: connection, runId, status: 'succeeded', pauseWhy: null });
}

/** Records the facts of a stream, replacing earlier ones. */
export async function addStream(
  { pool }: Warehouse,
  stream: { connection: string; stream: string; completeMinutesAgo?: number; stalled?: boolean },
): Promise<void> {
  await pool.query(
    `insert into sync.streams (connection_id, stream, resource, capability, last_success_at, stalled_at)
     values ($1, $2, $2, 'supported', now() - $3 * interval '1 minute', case when $4 then now() end)
     on conflict (connection_id, stream) do update set last_success_at = excluded.last_success_at`,
    [stream.connection, stream.stream, stream.completeMinutesAgo ?? 0, stream.stalled === true],
  );
}

/** Puts a record in quarantine. */
export async function addEntry(
  { pool }: Warehouse,
  entry: { connection: string; resource: string; hoursAgo: number; payload?: string },
): Promise<void> {
  await pool.query(
    `insert into sync.quarantine
       (connection_id, resource, stream, entry_key, reason, payload, run_id, first_seen_at, last_seen_at)
     values ($1, $2, $2, $3, 'id is missing', $4, 'run', now() - $5 * interval '1 hour', now())`,
    [entry.connection, entry.resource, randomUUID(), entry.payload ?? '{}', entry.hoursAgo],
  );
}

/** Stores a webhook that waits. */
export async function addWebhook(
  { pool }: Warehouse,
  webhook: { connection: string; secondsAgo: number },
): Promise<void> {
  await pool.query(
    `insert into sync.webhook_inbox (digest, connection_id, type, code, payload, received_at)
     values ($1, $2, 'BILL', 'BILL_UPDATED', '{}', now() - $3 * interval '1 second')`,
    [randomUUID(), webhook.connection, webhook.secondsAgo],
  );
}
