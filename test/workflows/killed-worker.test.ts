import { expect, test } from 'vitest';
import { createInstallation } from '../support/installation.ts';
import { readPass, untilPages } from '../support/sync-progress.ts';
import { awaitSync, startSync } from '../support/sync.ts';

const installation = await createInstallation();
const { admin } = installation;

test('a sync whose worker is killed continues from the last committed page within 40 s, and leaves an exact copy', async () => {
  const connection = await installation.connect({ records: 600 });
  await admin.configure({ maximumLimit: 5 });
  await admin.addFault({ match: { path: '/accounting/bills' }, fault: { kind: 'slow', ms: 150 } });
  const worker = await installation.startWorker();
  const handle = await startSync(installation, connection);
  await untilPages(installation, { connection, pages: 5 });
  await worker.stop('SIGKILL');
  const killed = Date.now();
  const { cursor } = await readPass(installation, { connection });
  const before = await billRequests();
  await admin.clearFaults();
  await installation.startWorker();
  const { run, failure } = await awaitSync(installation, handle, handle.firstExecutionRunId);
  expect(failure).toBeUndefined();
  expect(run.status).toBe('succeeded');
  const after = (await billRequests()).slice(before.length);
  expect(new URLSearchParams(after[0]?.query).get('cursor')).toBe(cursor);
  expect((after[0]?.at ?? 0) - killed).toBeLessThan(40_000);
  // The page being landed, and the one requested ahead of it.
  const asked = new Set(before.map(({ query }) => query));
  expect(after.filter(({ query }) => asked.has(query)).length).toBeLessThanOrEqual(2);
  expect((await installation.compare(connection)).differences).toEqual([]);
});

async function billRequests(): Promise<{ query: string; at: number }[]> {
  const requests = await admin.requests();
  return requests.filter(({ path }) => path === '/accounting/bills');
}
