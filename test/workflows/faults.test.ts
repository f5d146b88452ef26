import { WorkflowFailedError } from '@temporalio/client';
import { afterEach, expect, test } from 'vitest';
import type { FaultRuleInput } from '../../sandbox/faults/fault-rule.ts';
import { createInstallation } from '../support/installation.ts';
import { statusesOf, sync, sumOverStreams } from '../support/sync.ts';

const installation = await createInstallation({ env: { DAYBOOK_GIVE_UP_AFTER: '2s' } });
const { admin } = installation;
await installation.startWorker();

afterEach(() => admin.clearFaults());

const brief: Record<string, FaultRuleInput['fault']> = {
  '/accounting/bills': { kind: 'status', status: 500, code: 'INTERNAL_SERVER_ERROR' },
  '/accounting/expenses': { kind: 'status', status: 550, code: 'PLATFORM_ERROR' },
  '/accounting/bill_credit_memos': { kind: 'truncated' },
  '/accounting/customers': { kind: 'cut' },
  '/accounting/items': { kind: 'reset' },
  '/subscriptions': { kind: 'html', status: 200 },
};

test('a sync retries after a 500, a 550, half a body, a broken connection and HTML, and leaves an exact copy', async () => {
  const connection = await installation.connect();
  for (const [path, fault] of Object.entries(brief))
    await admin.addFault({ match: { connection, path }, times: 1, fault });
  const { run, failure } = await sync(installation, connection);
  expect(failure).toBeUndefined();
  expect(run.status).toBe('succeeded');
  expect(sumOverStreams(run, 'requests') - sumOverStreams(run, 'pages')).toBe(Object.keys(brief).length);
  expect((await installation.compare(connection)).differences).toEqual([]);
});

test('a sync recovers from a page that names itself as the next page once', async () => {
  const connection = await installation.connect();
  await admin.addFault({
    match: { connection, path: '/accounting/bills', query: 'cursor=' },
    times: 1,
    fault: { kind: 'repeat-cursor' },
  });
  await admin.configure({ maximumLimit: 20 });
  const { run } = await sync(installation, connection);
  await admin.configure({});
  expect(run.status).toBe('succeeded');
  expect((await installation.compare(connection)).differences).toEqual([]);
});

test('a stream that keeps failing is given up, the other streams finish, and the next sync succeeds', async () => {
  const connection = await installation.connect();
  await admin.addFault({
    match: { connection, path: '/accounting/items' },
    fault: { kind: 'status', status: 500, code: 'INTERNAL_SERVER_ERROR' },
  });
  const { run, failure } = await sync(installation, connection);
  expect(run.status).toBe('partial');
  expect(statusesOf(run)).toMatchObject({ items: 'failed', bills: 'succeeded', subscriptions: 'succeeded' });
  expect(run.streams.find(({ stream }) => stream === 'items')?.failure_type).toBe('GaveUp');
  expect(failure).toBeInstanceOf(WorkflowFailedError);
  expect((failure as WorkflowFailedError).cause).toMatchObject({
    type: 'GaveUp',
    message: expect.stringContaining(`${connection}: Reading items failed for`) as string,
  });
  await admin.clearFaults();
  const next = await sync(installation, connection);
  expect(next.failure).toBeUndefined();
  expect(next.run.status).toBe('succeeded');
  expect((await installation.compare(connection)).differences).toEqual([]);
});

test('a list that starts to answer 404 counts as failed, not as empty', async () => {
  const connection = await installation.connect();
  await sync(installation, connection);
  await admin.addFault({
    match: { connection, path: '/accounting/items' },
    fault: { kind: 'status', status: 404, code: 'NOT_FOUND' },
  });
  const { run } = await sync(installation, connection);
  expect(statusesOf(run)).toMatchObject({ items: 'failed', bills: 'succeeded' });
  expect((await installation.compare(connection)).differences).toEqual([]);
});
