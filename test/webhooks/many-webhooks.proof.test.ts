import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { startDaybook } from '../support/daybook-process.ts';
import { createInstallation } from '../support/installation.ts';
import { rows } from '../support/rows.ts';
import { sync } from '../support/sync.ts';
import { readIds, readInbox, readRecord, readListeningUrl } from './company.ts';
import { entityWebhook, send } from './webhook.ts';

const installation = await createInstallation();
const { admin, warehouse, cwd, env } = installation;

test('webhooks about more than 300 records are applied by reading a list, and only records missing from it are fetched', async () => {
  const connection = await installation.connect({ records: 2_500 });
  const worker = await installation.startWorker();
  await sync(installation, connection);
  await worker.stop();
  const ids = await readIds(installation, connection, { count: 402 });
  const [deleted = '', hidden = '', ...changed] = ids;
  const record = (await readRecord(installation, connection, { id: deleted })) ?? '';
  await admin.execute(
    { kind: 'delete', connection, resource: 'bills', id: deleted, event: false },
    ...changed.map(
      (id) => ({ kind: 'change', connection, resource: 'bills', id, patch: '{"memo":"crowd"}' }) as const,
    ),
  );
  const now = new Map(
    (await admin.content(connection, 'bills')).map((text) => [(JSON.parse(text) as { id: string }).id, text]),
  );
  const bodies = [
    entityWebhook(connection, { entity: 'BILL', what: 'DELETED', record }),
    ...changed.map((id) =>
      entityWebhook(connection, { entity: 'BILL', what: 'UPDATED', record: now.get(id) ?? '' }),
    ),
    // This webhook has a version that no list will show.
    entityWebhook(connection, {
      entity: 'BILL',
      what: 'UPDATED',
      record: (now.get(hidden) ?? '').replace(
        /"last_synced_at":"[^"]*"/,
        '"last_synced_at":"2099-01-01T00:00:00Z"',
      ),
    }),
  ];
  const serving = startDaybook(['serve'], { cwd, env });
  await serving.waitForOutput(/Serving at/);
  const url = readListeningUrl(serving);
  for (let at = 0; at < bodies.length; at += 50) {
    await Promise.all(bodies.slice(at, at + 50).map((body) => send(url, body)));
  }
  await serving.stop();
  await admin.clearRequests();
  await installation.startWorker();
  const inbox = await eventually(async () => {
    const entries = await readInbox(installation, connection);
    return entries.every(({ status }) => status !== 'waiting') ? entries : undefined;
  });
  expect(inbox).toHaveLength(402);
  const fetches = (await admin.requests()).filter(({ path }) => path.startsWith('/accounting/bills/'));
  expect(fetches.map(({ path }) => path.split('/').at(-1)).sort()).toEqual([deleted, hidden].sort());
  const syncs = await rows(
    warehouse,
    `select reason from sync.runs where connection_id = $1 and reason = 'webhook' and kind = 'sync'`,
    [connection],
  );
  expect(syncs).toHaveLength(1);
  expect((await installation.compare(connection)).differences).toEqual([]);
});
