import { afterEach, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { countRetries, readSearchAttributes, timerSummaries } from '../support/workflow-history.ts';
import { createInstallation } from '../support/installation.ts';
import { proofTest } from '../support/proof-test.ts';
import { awaitSync, startSync, sync } from '../support/sync.ts';

const installation = await createInstallation();
const { admin } = installation;
await installation.startWorker();

afterEach(() => admin.clearFaults());

test('a sync waits for a company that is not ready with one timer that says why, and then succeeds', async () => {
  const connection = await installation.connect({ ready: false });
  const handle = await startSync(installation, connection);
  const waiting = await eventually(async () => {
    const summaries = await timerSummaries(handle);
    return summaries.length > 0 ? summaries : undefined;
  });
  expect(waiting).toEqual([`The service is still preparing the data of ${connection}`]);
  await eventually(async () => {
    const { DaybookPhase: phase } = await readSearchAttributes(handle);
    return phase === 'waiting' ? true : undefined;
  });
  await admin.execute({ kind: 'make-ready', connection });
  const { run, failure } = await awaitSync(installation, handle, handle.firstExecutionRunId);
  expect(failure).toBeUndefined();
  expect(run.status).toBe('succeeded');
  expect(await timerSummaries(handle)).toHaveLength(1);
  expect(await countRetries(handle)).toBe(0);
  expect((await installation.compare(connection)).differences).toEqual([]);
});

test('a 429 with Retry-After pauses every connection of the organization that long, and costs no attempt', async () => {
  const [limited, other] = [await installation.connect(), await installation.connect()];
  await admin.addFault({
    match: { connection: limited, path: '/accounting/bills' },
    times: 1,
    fault: { kind: 'status', status: 429, code: 'RATE_LIMIT_EXCEEDED', retryAfter: '3' },
  });
  const handle = await startSync(installation, limited);
  const refused = await eventually(async () =>
    (await admin.requests()).find(({ connection, status }) => connection === limited && status === 429),
  );
  const { run: otherRun } = await sync(installation, other);
  const { run } = await awaitSync(installation, handle, handle.firstExecutionRunId);
  expect([run.status, otherRun.status]).toEqual(['succeeded', 'succeeded']);
  const first = (await admin.requests()).find(({ connection }) => connection === other);
  expect((first?.at ?? 0) - refused.at).toBeGreaterThanOrEqual(2_900);
  expect(await timerSummaries(handle)).toEqual(['The service asked for a pause: too many requests']);
  expect(await countRetries(handle)).toBe(0);
  expect((await installation.compare(limited)).differences).toEqual([]);
});

proofTest('a 429 without Retry-After leads to a wait, too, and costs no attempt', async () => {
  const connection = await installation.connect();
  await admin.addFault({
    match: { connection, path: '/accounting/items' },
    times: 1,
    fault: { kind: 'status', status: 429, code: 'RATE_LIMIT_EXCEEDED' },
  });
  const { run, handle } = await sync(installation, connection);
  expect(run.status).toBe('succeeded');
  expect(await countRetries(handle)).toBe(0);
  expect((await installation.compare(connection)).differences).toEqual([]);
});

proofTest('a 452 of the platform pauses its own connection alone', async () => {
  const [limited, other] = [await installation.connect(), await installation.connect()];
  await admin.addFault({
    match: { connection: limited, path: '/accounting/customers' },
    times: 1,
    fault: { kind: 'status', status: 452, code: 'PLATFORM_RATE_LIMIT', retryAfter: '4' },
  });
  const handle = await startSync(installation, limited);
  await eventually(async () =>
    (await admin.requests()).find(({ connection, status }) => connection === limited && status === 452),
  );
  const started = Date.now();
  await sync(installation, other);
  expect(Date.now() - started).toBeLessThan(3_000);
  const { run } = await awaitSync(installation, handle, handle.firstExecutionRunId);
  expect(run.status).toBe('succeeded');
  expect(await countRetries(handle)).toBe(0);
});
