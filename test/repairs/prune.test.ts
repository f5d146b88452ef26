import { beforeEach, describe, expect, test } from 'vitest';
import { pruneWarehouse, type Pruned } from '../../warehouse/retention/prune-warehouse.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

const nothing = {
  'sync.runs': 0,
  'sync.run_streams': 0,
  'sync.quarantine': 0,
  'sync.discrepancies': 0,
  'sync.webhook_inbox': 0,
  'sync.alerts': 0,
  'history.record_versions': 0,
};

beforeEach(async () => {
  await warehouse.pool.query(`
    truncate sync.runs, sync.run_streams, sync.quarantine, sync.discrepancies`);
});

describe('finished runs', () => {
  test('ended before the cutoff are deleted with their streams, except the newest finished run of each kind', async () => {
    const connectionId = await addTestConnection(warehouse);
    await addRun({ runId: 'old', connectionId, daysAgo: 200 });
    await addRun({ runId: 'newest sync, old too', connectionId, daysAgo: 100 });
    await addRun({ runId: 'newest reconcile', connectionId, daysAgo: 300, kind: 'reconcile' });
    await addRun({ runId: 'running', connectionId, daysAgo: 250, status: 'running' });
    expect(await prune({ dryRun: true })).toEqual({ ...nothing, 'sync.runs': 1, 'sync.run_streams': 2 });
    expect(await runIds()).toHaveLength(4);
    expect(await prune()).toEqual({ ...nothing, 'sync.runs': 1, 'sync.run_streams': 2 });
    expect(await runIds()).toEqual(['newest reconcile', 'newest sync, old too', 'running']);
    expect(await prune()).toEqual(nothing);
  });

  test('that finished last are kept while a newer one is still running', async () => {
    const connectionId = await addTestConnection(warehouse);
    await addRun({ runId: 'finished', connectionId, daysAgo: 200, status: 'failed' });
    await addRun({ runId: 'running', connectionId, daysAgo: 1, status: 'running' });
    expect(await prune()).toEqual(nothing);
  });

  test('within the retention time are kept', async () => {
    const connectionId = await addTestConnection(warehouse);
    for (const daysAgo of [1, 89, 91]) await addRun({ runId: `${daysAgo} days`, connectionId, daysAgo });
    await prune();
    expect(await runIds()).toEqual(['1 days', '89 days']);
  });

  test('without a connection are a kind of their own', async () => {
    await addRun({ runId: 'older export', connectionId: null, daysAgo: 200, kind: 'export' });
    await addRun({ runId: 'newest export', connectionId: null, daysAgo: 100, kind: 'export' });
    await prune();
    expect(await runIds()).toEqual(['newest export']);
  });
});

describe('closed entries', () => {
  test('are deleted when they are old, and open ones never are', async () => {
    const connectionId = await addTestConnection(warehouse);
    await addEntry({ connectionId, key: 'open', status: 'open', closedDaysAgo: null });
    await addEntry({ connectionId, key: 'new', status: 'landed', closedDaysAgo: 80 });
    await addEntry({ connectionId, key: 'old', status: 'landed', closedDaysAgo: 100 });
    await addDiscrepancy({ connectionId, recordId: 'open', closedDaysAgo: null });
    await addDiscrepancy({ connectionId, recordId: 'new', closedDaysAgo: 80 });
    await addDiscrepancy({ connectionId, recordId: 'old', closedDaysAgo: 100 });
    const removed = { ...nothing, 'sync.quarantine': 1, 'sync.discrepancies': 1 };
    expect(await prune({ dryRun: true })).toEqual(removed);
    expect(await prune()).toEqual(removed);
    expect(await column('select record_id from sync.discrepancies order by 1')).toEqual(['new', 'open']);
    expect(await column('select entry_key from sync.quarantine order by 1')).toEqual(['new', 'open']);
  });

  test('of an event are kept until the watermark has passed the event, which is reread until then', async () => {
    const connectionId = await addTestConnection(warehouse);
    const entry = { connectionId, stream: 'events', key: 'event', status: 'discarded', closedDaysAgo: 200 };
    await addEntry(entry);
    const watermark = `insert into sync.streams (connection_id, stream, resource, watermark)
      values ($1, 'events', 'events', now() - $2 * interval '1 day')
      on conflict (connection_id, stream) do update set watermark = excluded.watermark`;
    await warehouse.pool.query(watermark, [connectionId, 201]);
    expect(await prune()).toEqual(nothing);
    await warehouse.pool.query(watermark, [connectionId, 100]);
    expect(await prune()).toEqual({ ...nothing, 'sync.quarantine': 1 });
  });
});

function prune({ dryRun = false } = {}): Promise<Pruned> {
  const keep = { runsMilliseconds: 90 * 86_400_000, historyMilliseconds: null };
  return pruneWarehouse(warehouse, { keep, dryRun });
}

async function addRun(run: {
  runId: string;
  connectionId: string | null;
  daysAgo: number;
  kind?: string;
  status?: string;
}): Promise<void> {
  const { runId, connectionId, daysAgo, kind = 'sync', status = 'succeeded' } = run;
  await warehouse.pool.query(
    `insert into sync.runs (run_id, connection_id, kind, status, workflow_id, temporal_run_id, reason, started_at, finished_at)
     values ($1, $2, $3, $4, '', '', 'test', now() - $5 * interval '1 day',
       case when $4 <> 'running' then now() - $5 * interval '1 day' end)`,
    [runId, connectionId, kind, status, daysAgo],
  );
  await warehouse.pool.query(
    `insert into sync.run_streams (run_id, connection_id, stream, status)
     select $1, coalesce($2, ''), stream, $3 from unnest(array['bills', 'items']) as stream`,
    [runId, connectionId, status],
  );
}

async function addEntry(entry: {
  connectionId: string;
  key: string;
  stream?: string;
  status: string;
  closedDaysAgo: number | null;
}): Promise<void> {
  const { connectionId, key, stream = 'bills', status, closedDaysAgo } = entry;
  await warehouse.pool.query(
    `insert into sync.quarantine (connection_id, resource, stream, entry_key, reason, payload, status, run_id, first_seen_at, last_seen_at, closed_at)
     values ($1, 'bills', $2, $3, 'test', '{}', $4, 'run', now() - interval '1 year', now() - interval '1 year',
       now() - $5 * interval '1 day')`,
    [connectionId, stream, key, status, closedDaysAgo],
  );
}

async function addDiscrepancy(found: {
  connectionId: string;
  recordId: string;
  closedDaysAgo: number | null;
}): Promise<void> {
  const { connectionId, recordId, closedDaysAgo } = found;
  await warehouse.pool.query(
    `insert into sync.discrepancies (connection_id, resource, record_id, kind, status, run_id, found_at, closed_at)
     values ($1, 'bills', $2, 'extra', case when $3::int is null then 'confirmed' else 'repaired' end, 'run',
       now() - interval '1 year', now() - $3::int * interval '1 day')`,
    [connectionId, recordId, closedDaysAgo],
  );
}

function runIds(): Promise<unknown[]> {
  return column('select run_id from sync.runs order by 1');
}

async function column(statement: string): Promise<unknown[]> {
  return (await rows(warehouse, statement)).map((found) => Object.values(found)[0]);
}
