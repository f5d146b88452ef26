import { WorkflowFailedError } from '@temporalio/client';
import { randomBytes } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { setToken } from '../../warehouse/connections/set-token.ts';
import { rotateSecretKey } from '../../warehouse/secrets/rotate-secret-key.ts';
import { eventually } from '../support/eventually.ts';
import { createInstallation, secretKey } from '../support/installation.ts';
import { pathWithoutPython } from '../support/path-without-python.ts';
import { proofTest, some } from '../support/proof-test.ts';
import { awaitReconcile, startReconcile } from '../support/reconcile.ts';
import { rows } from '../support/rows.ts';
import { awaitSync, startSync, sync, type SyncEnd } from '../support/sync.ts';

const installation = await createInstallation();
const { admin, warehouse } = installation;
const withoutPython = await pathWithoutPython(installation.cwd);
let worker = await installation.startWorker(withoutPython);

afterEach(() => admin.clearFaults());

test('a wrong access token fails the sync within seconds, with one sentence, before it writes anything', async () => {
  const connection = await installation.connect({ token: 'nobody-has-this-token' });
  const started = Date.now();
  const end = await sync(installation, connection);
  expect(Date.now() - started).toBeLessThan(10_000);
  expect(end.run.status).toBe('failed');
  expect(end.run.failure).toMatch(/was refused for its credentials .*set-token/);
  expect(unwrapFailure(end)).toMatchObject({ type: 'CredentialsRefused', nonRetryable: true });
  expect(await readAttempts(end)).toEqual([1]);
  expect(await readContent(connection)).toEqual([]);
});

test.for(
  some([
    [401, 'CONNECTION_DISABLED', 'ConnectionDisabled'],
    [400, 'NEEDS_UPDATE', 'ConnectionDisabled'],
    [403, 'PRODUCT_NOT_ALLOWED', 'ConnectionDisabled'],
    [451, 'PLATFORM_REFUSED', 'PlatformAccessRefused'],
  ] as const),
)('%i %s stops the sync at once as %s', async ([status, code, type]) => {
  const connection = await installation.connect();
  await admin.execute({ kind: 'refuse', connection, refusal: { status, code } });
  const end = await sync(installation, connection);
  expect(end.run).toMatchObject({ status: 'failed', failure: expect.stringContaining(code) as string });
  expect(unwrapFailure(end)).toMatchObject({ type, nonRetryable: true });
  expect(await readAttempts(end)).toEqual([1]);
  expect(await readContent(connection)).toEqual([]);
});

test('a token of another company stops the sync before it writes anything', async () => {
  const connection = await installation.connect();
  const other = await installation.connect();
  await sync(installation, connection);
  await admin.activity({ connection, changes: 2 });
  const before = await readContent(connection);
  await setToken(warehouse, secretKey, { connectionId: connection, token: `token-of-${other}` });
  const end = await sync(installation, connection);
  expect(end.run.status).toBe('failed');
  expect(unwrapFailure(end)).toMatchObject({ type: 'IdentityChanged', nonRetryable: true });
  expect(await readContent(connection)).toEqual(before);

  await setToken(warehouse, secretKey, { connectionId: connection, token: `token-of-${connection}` });
  expect((await sync(installation, connection)).run.status).toBe('succeeded');
  expect((await installation.compare(connection)).differences).toEqual([]);
});

test.for(some(['sync', 'reconcile'] as const))(
  'a token that is replaced while a %s uses it neither fails the run nor pauses the connection',
  async (kind) => {
    const connection = await installation.connect({ token: 'revoked-meanwhile' });
    await admin.addFault({ match: {}, fault: { kind: 'slow', ms: 3_000 } });
    const before = await grants();
    const handle = await { sync: startSync, reconcile: startReconcile }[kind](installation, connection);
    await eventually(async () => ((await grants()) > before ? true : undefined));
    await setToken(warehouse, secretKey, { connectionId: connection, token: `token-of-${connection}` });
    await admin.clearFaults();
    const end = { sync: awaitSync, reconcile: awaitReconcile }[kind];
    const { run } = await end(installation, handle, handle.firstExecutionRunId);
    expect(run).toMatchObject({ status: 'succeeded', failure: null });
    const paused = 'select from sync.connections where connection_id = $1 and paused_at is not null';
    expect(await rows(warehouse, paused, [connection])).toEqual([]);
    expect((await installation.compare(connection)).differences).toEqual([]);
  },
);

/** The time at which the newest request was allowed, when its grant is written. */
async function grants(): Promise<string> {
  const newest = `select coalesce(max(granted_at)::text, '') as at from sync.api_grants`;
  return String((await rows(warehouse, newest, []))[0]?.at);
}

test.each([
  'syncConnection',
  'reconcileConnection',
  'backfillConnection',
  'applyWebhooks',
  'awaitApproval',
  'scheduledStart',
])('%s without an input fails at once, and says what it takes', async (type) => {
  for (const args of [[null], []]) {
    await expect(startedByHand(type, args)).rejects.toMatchObject({
      cause: { type: 'UnknownConnection', message: expect.stringContaining('one JSON object') as string },
    });
  }
});

test.each(['syncConnection', 'reconcileConnection', 'backfillConnection', 'scheduledStart'])(
  '%s fails at once, and says so, if its resources are not a list of names',
  async (type) => {
    const connection = await installation.connect();
    for (const resources of ['bills', { a: 1 }, [7], null]) {
      await expect(startedByHand(type, [{ kind: 'sync', connection, resources }])).rejects.toMatchObject({
        cause: { type: 'UnknownResource', message: expect.stringContaining('["bills"]') as string },
      });
    }
  },
);

test('scheduledStart fails at once, and says what it takes, if its kind or its connection makes no sense', async () => {
  const connection = 'acme-us';
  for (const input of [
    { connection },
    { kind: 'nonsense', connection },
    { kind: 'constructor', connection },
    { kind: 'sync', connection: { a: 1 } },
  ])
    await expect(startedByHand('scheduledStart', [input])).rejects.toMatchObject({
      cause: { type: 'UnknownConnection', message: expect.stringContaining('"kind":"sync"') as string },
    });
});

test('a reconcile takes null for no approvals', async () => {
  const connection = await installation.connect();
  await expect(startedByHand('reconcileConnection', [{ connection, approved: null }])).resolves.toMatchObject(
    { status: 'succeeded' },
  );
});

test('awaitApproval fails at once if its input does not say what to approve', async () => {
  for (const more of [{}, { waiting: 'bills' }, { waiting: { bills: 1 }, foundBy: null }]) {
    await expect(startedByHand('awaitApproval', [{ connection: 'acme-eu', ...more }])).rejects.toMatchObject({
      cause: {
        type: 'UnknownResource',
        message: expect.stringContaining('A reconcile starts this workflow itself') as string,
      },
    });
  }
});

test.each(['pruneWarehouse', 'exportSnapshot', 'buildMarts'])(
  '%s needs no input, as all of it is optional',
  async (type) => {
    for (const args of [[null], []]) await startedByHand(type, args);
  },
);

/** Runs a workflow to its end that a person starts in Temporal. */
function startedByHand(type: string, args: unknown[]): Promise<unknown> {
  return installation.client.workflow.execute(type, {
    workflowId: `by-hand-${randomBytes(4).toString('hex')}`,
    taskQueue: 'daybook',
    args,
    workflowExecutionTimeout: '20 s',
  });
}

proofTest('a company that already has a connection is refused under a second name', async () => {
  const connection = await installation.connect();
  const second = await installation.connect({ token: `token-of-${connection}` });
  await sync(installation, connection);
  const end = await sync(installation, second);
  expect(end.run.status).toBe('failed');
  expect(end.run.failure).toContain(`opens the same company as ${connection}`);
  expect(unwrapFailure(end)).toMatchObject({ type: 'IdentityInUse', nonRetryable: true });
  expect(await readContent(second)).toEqual([]);
});

test('a sync fails, instead of finding an empty company, if every list answers 404', async () => {
  const connection = await installation.connect();
  await admin.addFault({ match: { connection }, fault: { kind: 'status', status: 404, code: 'NOT_FOUND' } });
  const end = await sync(installation, connection);
  expect(end.run.status).toBe('failed');
  expect(end.run.failure).toContain('Check DAYBOOK_API_URL');
  expect(unwrapFailure(end)).toMatchObject({ type: 'NothingSupported' });
});

test('a sync of a connection that does not exist fails at once', async () => {
  await expect(
    installation.client.workflow.execute('syncConnection', {
      workflowId: 'sync/nobody',
      taskQueue: 'daybook',
      args: [{ connection: 'nobody' }],
    }),
  ).rejects.toThrow(WorkflowFailedError);
});

test('a wrong client secret fails the sync without retries, and the right one lets the next sync succeed', async () => {
  const connection = await installation.connect();
  await worker.stop();
  worker = await installation.startWorker({ DAYBOOK_CLIENT_SECRET: 'not-the-secret' });
  const end = await sync(installation, connection);
  expect(end.run.status).toBe('failed');
  expect(end.run.failure).toContain('DAYBOOK_CLIENT_SECRET');
  expect(unwrapFailure(end)).toMatchObject({ type: 'CredentialsRefused', nonRetryable: true });
  await worker.stop();
  worker = await installation.startWorker();
  expect((await sync(installation, connection)).run.status).toBe('succeeded');
});

proofTest('a sync waits for a worker with the new key if its worker has a key that was rotated', async () => {
  const connection = await installation.connect();
  const to = randomBytes(32);
  await rotateSecretKey(warehouse, { from: secretKey, to });
  const handle = await startSync(installation, connection);
  await eventually(async () => {
    const { pendingActivities } = (await handle.describe()).raw;
    return pendingActivities?.some(({ lastFailure }) => lastFailure?.message?.includes('was rotated'))
      ? true
      : undefined;
  });
  await worker.stop();
  worker = await installation.startWorker({ DAYBOOK_SECRET_KEY: to.toString('base64') });
  const { run } = await awaitSync(installation, handle, handle.firstExecutionRunId);
  expect(run.status).toBe('succeeded');
});

function unwrapFailure({ failure }: SyncEnd): unknown {
  return failure instanceof WorkflowFailedError ? failure.cause : failure;
}

/** The distinct numbers of attempts of the run's activities. */
async function readAttempts({ handle }: SyncEnd): Promise<number[]> {
  const { events } = await handle.fetchHistory();
  const attempts = (events ?? []).flatMap((event) => event.activityTaskStartedEventAttributes?.attempt ?? []);
  return [...new Set(attempts)];
}

/** The rows of a connection in finance and history, and the progress of its streams. */
async function readContent(connection: string): Promise<unknown[]> {
  return rows(
    warehouse,
    `select 'bill' as what, id, xmin::text as version from finance.bills where connection_id = $1
     union all
     select 'history', record_id, xmin::text from history.record_versions where connection_id = $1
     union all
     select 'watermark', stream, watermark::text from sync.streams
     where connection_id = $1 and watermark is not null
     order by 1, 2, 3`,
    [connection],
  );
}
