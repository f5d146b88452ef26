import { expect, test } from 'vitest';
import { createInstallation } from '../support/installation.ts';
import { awaitReconcile, reconcile, startReconcile } from '../support/reconcile.ts';
import { sync } from '../support/sync.ts';

const installation = await createInstallation();
const { admin } = installation;
// No list lags here, so a record that a listing leaves out is decided in the same run.
await installation.startWorker({ DAYBOOK_LOOKBACK: '0s' });

test('a reconcile alongside syncs of a changing source succeeds, and leaves the warehouse equal to the source', async () => {
  const connection = await installation.connect({ records: 600 });
  await sync(installation, connection);
  await admin.configure({ maximumLimit: 20 });
  await admin.addFault({ match: { connection, path: '/accounting/bills' }, fault: { kind: 'slow', ms: 60 } });
  const handle = await startReconcile(installation, connection);
  for (const seed of [1, 2, 3]) {
    await admin.activity({ connection, seed, changes: 5, touches: 10, deletes: 2 });
    await sync(installation, connection);
  }
  const { run, failure } = await awaitReconcile(installation, handle, handle.firstExecutionRunId);
  expect(failure).toBeUndefined();
  expect(run.status).toBe('succeeded');
  await admin.clearFaults();
  await sync(installation, connection);
  await reconcile(installation, connection);
  expect((await installation.compare(connection)).differences).toEqual([]);
});
