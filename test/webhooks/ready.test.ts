import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { eventsOf, timerSummaries } from '../support/history-of.ts';
import { createInstallation } from '../support/installation.ts';
import { rows } from '../support/rows.ts';
import { endOf, startSync } from '../support/sync.ts';
import { appliedInbox, syncedCompany, urlOf } from './company.ts';
import { connectionWebhook, send } from './webhook.ts';

const installation = await createInstallation();
const { admin, warehouse } = installation;
const url = urlOf(await installation.startWorker());

// On a busy machine the timer of 5 s may win against the webhook.
test(
  'INITIAL_UPDATE wakes a sync that waits for the data, though the identity of its connection is not known',
  { retry: 2 },
  async () => {
    const connection = await installation.connect({ ready: false });
    // Fewer streams than a worker reads at once: one that had not yet asked would find the data there, and nobody need be woken.
    const handle = await startSync(installation, connection, { resources: ['items'] });
    await eventually(async () => ((await timerSummaries(handle)).length > 0 ? true : undefined));
    await admin.execute({ kind: 'make-ready', connection });
    expect(await send(url, connectionWebhook(connection))).toBe(200);
    const { run } = await endOf(installation, handle, handle.firstExecutionRunId);
    expect(run.status).toBe('succeeded');
    const events = await eventsOf(handle);
    expect(events.filter((event) => event.timerCanceledEventAttributes)).toHaveLength(1);
    expect(events.filter((event) => event.timerFiredEventAttributes)).toHaveLength(0);
    expect((await installation.compare(connection, { tables: ['items'] })).differences).toEqual([]);
  },
);

test('INITIAL_UPDATE too early is no harm: the sync goes on waiting', async () => {
  const connection = await installation.connect({ ready: false });
  const handle = await startSync(installation, connection);
  await eventually(async () => ((await timerSummaries(handle)).length > 0 ? true : undefined));
  await send(url, connectionWebhook(connection));
  await eventually(async () => ((await timerSummaries(handle)).length > 1 ? true : undefined));
  await admin.execute({ kind: 'make-ready', connection });
  const { run } = await endOf(installation, handle, handle.firstExecutionRunId);
  expect(run.status).toBe('succeeded');
});

test('INITIAL_UPDATE of a connection that nobody syncs now starts a sync, each time', async () => {
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
