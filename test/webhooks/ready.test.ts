import { expect, test } from 'vitest';
import { blockWrites } from '../support/blocked-session.ts';
import { eventually } from '../support/eventually.ts';
import { fetchEvents, timerSummaries } from '../support/workflow-history.ts';
import { createInstallation } from '../support/installation.ts';
import { proofTest } from '../support/proof-test.ts';
import { rows } from '../support/rows.ts';
import { awaitSync, startSync, sync } from '../support/sync.ts';
import { appliedInbox, changeBill, readIds, syncedCompany, readListeningUrl } from './company.ts';
import { connectionWebhook, send } from './webhook.ts';

const installation = await createInstallation();
const { admin, client, databaseUrl, warehouse } = installation;
const url = readListeningUrl(await installation.startWorker());

// On a busy machine the timer of 5 s may win against the webhook.
test(
  "INITIAL_UPDATE wakes a sync that waits for data, even if its connection's identity is unknown",
  { retry: 2 },
  async () => {
    const connection = await installation.connect({ ready: false });
    // Fewer streams than a worker reads at once: a stream that had not yet been requested would find the data ready, and need no wake-up.
    const handle = await startSync(installation, connection, { resources: ['items'] });
    await eventually(async () => ((await timerSummaries(handle)).length > 0 ? true : undefined));
    await admin.execute({ kind: 'make-ready', connection });
    expect(await send(url, connectionWebhook(connection))).toBe(200);
    const { run } = await awaitSync(installation, handle, handle.firstExecutionRunId);
    expect(run.status).toBe('succeeded');
    // The next run reads that streams other than items are ready too.
    const events = await fetchEvents(
      client.workflow.getHandle(handle.workflowId, handle.firstExecutionRunId),
    );
    expect(events.filter((event) => event.timerCanceledEventAttributes)).toHaveLength(1);
    expect(events.filter((event) => event.timerFiredEventAttributes)).toHaveLength(0);
    expect((await installation.compare(connection)).differences).toEqual([]);
  },
);

proofTest(
  'INITIAL_UPDATE that comes too early does no harm: the sync keeps waiting, and one run reads everything',
  async () => {
    const connection = await installation.connect({ ready: false });
    const handle = await startSync(installation, connection);
    await eventually(async () => ((await timerSummaries(handle)).length > 0 ? true : undefined));
    await send(url, connectionWebhook(connection));
    await eventually(async () => ((await timerSummaries(handle)).length > 1 ? true : undefined));
    await admin.execute({ kind: 'make-ready', connection });
    const { run } = await awaitSync(installation, handle, handle.firstExecutionRunId);
    expect(run.status).toBe('succeeded');
    expect(
      await rows(warehouse, 'select from sync.runs where connection_id = $1', [connection]),
    ).toHaveLength(1);
  },
);

proofTest(
  'INITIAL_UPDATE that comes after a list was read is not lost: the next run reads the list again',
  async () => {
    const connection = await installation.connect();
    await sync(installation, connection, { resources: ['customers'] });
    const blocked = await blockWrites(databaseUrl, 'finance.items');
    const handle = await startSync(installation, connection);
    await eventually(async () => {
      const read = await rows(
        warehouse,
        `select from sync.run_streams where connection_id = $1 and stream = 'bills' and status = 'succeeded'`,
        [connection],
      );
      return read.length > 0 ? true : undefined;
    });
    const [id = ''] = await readIds(installation, connection);
    await changeBill(installation, connection, { id, memo: 'ready now' });
    expect(await send(url, connectionWebhook(connection))).toBe(200);
    await appliedInbox(installation, connection);
    await blocked.letGo();
    expect((await awaitSync(installation, handle, handle.firstExecutionRunId)).failure).toBeUndefined();
    expect((await installation.compare(connection)).differences).toEqual([]);
  },
);

test('INITIAL_UPDATE of a connection without a running sync starts one each time', async () => {
  const connection = await syncedCompany(installation);
  for (const times of [1, 2]) {
    await send(url, connectionWebhook(connection));
    await appliedInbox(installation, connection);
    await eventually(async () => {
      const syncs = await rows(
        warehouse,
        `select from sync.runs where connection_id = $1 and kind = 'sync' and reason = 'webhook' and status = 'succeeded'`,
        [connection],
      );
      return syncs.length === times ? true : undefined;
    });
  }
});
