import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { watchAlerts } from '../../worker/alerts/watch-alerts.ts';
import { registry } from '../../worker/metrics.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();
/** A Temporal that cannot be reached. */
const temporal = new Client({ connection: Connection.lazy({ address: '127.0.0.1:1' }) });

test('an export that finds nothing changed is a success, although it creates no snapshot', async () => {
  await warehouse.pool.query(
    `insert into sync.snapshots (snapshot_id, run_id, lake, taken_at, rows, bytes, unfit, manifest_sha256, mark)
     values ('s', 'r', '/lake', now() - interval '4 hours', 1, 1, 0, '', '')`,
  );
  await addExport('failed', '1 minute');
  watch();
  expect(await secondsSinceExport()).toBeCloseTo(4 * 3600, -2);
  await addExport('succeeded', '30 minutes');
  await eventually(async () => ((await secondsSinceExport()) < 3600 ? true : undefined));
  expect(await secondsSinceExport()).toBeCloseTo(30 * 60, -2);
});

test('a snapshot is a success even if its export failed afterward', async () => {
  await warehouse.pool.query(`update sync.snapshots set taken_at = now() - interval '5 minutes'`);
  watch();
  await eventually(async () => ((await secondsSinceExport()) < 600 ? true : undefined));
  expect(await secondsSinceExport()).toBeCloseTo(5 * 60, -2);
});

async function addExport(status: 'succeeded' | 'failed', ago: string): Promise<void> {
  await warehouse.pool.query(
    `insert into sync.runs (run_id, kind, status, workflow_id, temporal_run_id, reason, finished_at)
     values (gen_random_uuid(), 'export', $1, 'export', 'e', 'test', now() - $2::interval)`,
    [status, ago],
  );
}

async function secondsSinceExport(): Promise<number> {
  return eventually(async () => {
    const said = /^daybook_last_success_timestamp_seconds\{what="export"\} (\S+)$/m;
    const [, seconds] = said.exec(await registry.metrics()) ?? [];
    return seconds === undefined ? undefined : Date.now() / 1000 - Number(seconds);
  });
}

function watch(): void {
  const stopping = new AbortController();
  const logger = pino({ level: 'silent' });
  const options = { logger, stopping: stopping.signal, everyMilliseconds: 50 };
  const ended = watchAlerts({ warehouse, temporal, url: undefined, version: '1.2.3' }, options);
  onTestFinished(async () => {
    stopping.abort();
    await ended;
  });
}
