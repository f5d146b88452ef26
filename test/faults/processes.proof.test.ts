import { expect, test, vi } from 'vitest';
import { withinFiveMinutes } from '../support/eventually.ts';
import { bill } from '../support/finance-records.ts';
import { createInstallation } from '../support/installation.ts';
import { readPass, untilPages } from '../support/sync-progress.ts';
import { row } from '../support/rows.ts';
import { awaitSync, startSync, sync } from '../support/sync.ts';
import { prove } from './prove.ts';

vi.setConfig({ testTimeout: 300_000 });

const installation = await createInstallation();
const { admin } = installation;

test('a worker that is suspended and resumes after another took over its sync leaves an exact copy', async () => {
  const zombie = await installation.startWorker();
  const { connection, handle } = await syncInTheMiddle();
  const { lease } = await readPass(installation, { connection });
  process.kill(zombie.pid, 'SIGSTOP');
  const other = await installation.startWorker();
  await withinFiveMinutes(async () =>
    (await readPass(installation, { connection })).lease === lease ? undefined : 'taken',
  );
  process.kill(zombie.pid, 'SIGCONT');
  await admin.clearFaults();
  const { run } = await awaitSync(installation, handle, handle.firstExecutionRunId);
  expect(run.status).toBe('succeeded');
  expect((await installation.compare(connection)).differences).toEqual([]);
  await Promise.all([zombie.stop(), other.stop()]);
  await prove({
    fault: 'SIGSTOP of a worker for longer than its heartbeat, then SIGCONT',
    during: 'a sync',
    survived: 'what the zombie still has in hand is refused: its lease is another one’s',
    seen: 'nothing: the other worker goes on',
  });
});

test('a worker whose clock jumps six hours ahead and twelve back in the middle of a sync misses nothing', async () => {
  const clock = new URL('jumping-clock.mjs', import.meta.url).href;
  const worker = await installation.startWorker({ NODE_OPTIONS: `--import ${clock}` });
  const { connection, handle } = await syncInTheMiddle();
  process.kill(worker.pid, 'SIGUSR2');
  await untilPages(installation, { connection, pages: 3 });
  process.kill(worker.pid, 'SIGUSR2');
  await admin.clearFaults();
  expect((await awaitSync(installation, handle, handle.firstExecutionRunId)).run.status).toBe('succeeded');
  await admin.activity({ connection, changes: 3, deletes: 1, resources: ['bills', 'expenses', 'customers'] });
  process.kill(worker.pid, 'SIGUSR2');
  expect((await sync(installation, connection)).run.status).toBe('succeeded');
  expect((await installation.compare(connection)).differences).toEqual([]);
  await worker.stop();
  await prove({
    fault: 'The clock of a worker jumps six hours ahead, and twelve back',
    during: 'two syncs',
    survived: 'versions are compared in the clock of the service alone',
    seen: 'nothing',
  });
});

test('a record of 10 MB lands, and so do the records of other lists', async () => {
  const worker = await installation.startWorker();
  const connection = await installation.connect({ records: 20 });
  const memo = `"${'x'.repeat(10_000_000)}"`;
  await admin.execute({ kind: 'add', connection, resource: 'bills', record: bill('large', { memo }) });
  expect((await sync(installation, connection)).run.status).toBe('succeeded');
  const { differences } = await installation.compare(connection, {
    tables: ['expenses', 'customers', 'items'],
  });
  expect(differences).toEqual([]);
  expect(
    await row(installation.warehouse, `select length(memo) as n from finance.bills where id = 'large'`),
  ).toEqual({ n: 10_000_000 });
  await worker.stop();
  await prove({
    fault: 'A record of 10 MB',
    during: 'a sync',
    survived: 'it lands whole',
    seen: 'nothing',
  });
});

/** Starts a slow sync of pages of five bills, and returns once two pages are committed. */
async function syncInTheMiddle(): Promise<{
  connection: string;
  handle: Awaited<ReturnType<typeof startSync>>;
}> {
  const connection = await installation.connect({ records: 100 });
  await admin.configure({ maximumLimit: 5 });
  const match = { connection, path: '/accounting/bills' };
  await admin.addFault({ match, fault: { kind: 'slow', ms: 700 } });
  const handle = await startSync(installation, connection);
  await untilPages(installation, { connection, pages: 2 });
  return { connection, handle };
}
