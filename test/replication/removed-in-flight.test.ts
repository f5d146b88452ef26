import { afterEach, expect, test } from 'vitest';
import { resourceNamed } from '../../resources/index.ts';
import { startRequest } from '../../temporal/start-request.ts';
import { addConnection } from '../../warehouse/connections/add-connection.ts';
import { removeConnection } from '../../warehouse/connections/remove-connection.ts';
import { storeWebhooks } from '../../warehouse/webhooks/store-webhooks.ts';
import { eventually } from '../support/eventually.ts';
import { bill } from '../support/finance-records.ts';
import { createInstallation, secretKey } from '../support/installation.ts';
import { land } from '../support/land.ts';
import { proofTest } from '../support/proof-test.ts';
import { row, rows, type Row } from '../support/rows.ts';
import { startSync, sync } from '../support/sync.ts';
import { readIds } from '../webhooks/company.ts';

// A connection is removed while work for it is under way, and another one has its name when the work continues.
const installation = await createInstallation({ env: { DAYBOOK_GIVE_UP_AFTER: '1m' } });
const { admin, warehouse, client } = installation;
await installation.startWorker();

afterEach(() => admin.clearFaults());

const down = { kind: 'status', status: 503 } as const;

proofTest(
  'a webhook with a slow fetch lands nothing of the previous company in a re-added connection',
  async () => {
    const { name, other } = await companies();
    await sync(installation, name);
    const [id = ''] = await readIds(installation, name);
    await admin.addFault({
      match: { connection: name, path: `/accounting/bills/${id}` },
      fault: { kind: 'slow', ms: 6_000 },
    });
    await admin.clearRequests();
    const webhook = {
      type: 'BILL',
      code: 'BILL_UPDATED',
      resource: resourceNamed('bills'),
      recordId: id,
      version: null,
    };
    await storeWebhooks(warehouse, {
      apiAddress: installation.sandbox.url,
      webhooks: [{ text: '{}', digest: name, serviceConnectionId: `conn-${name}`, ...webhook }],
    });
    await untilRequested(({ path }) => path.endsWith(id));
    const handle = client.workflow.getHandle(`webhooks/${name}`);
    await replace(name, other);
    await rejection(handle.result());
    expect(await readHeld(name)).toEqual({ bills: 0, versions: 0, service_connection_id: null });
  },
);

proofTest('a slow first response does not pin its company to a re-added connection', async () => {
  const { name, other } = await companies();
  await admin.addFault({ match: { connection: name }, fault: { kind: 'slow', ms: 6_000 } });
  await admin.clearRequests();
  const handle = await startSync(installation, name);
  await untilRequested(({ connection }) => connection === name);
  await replace(name, other);
  await rejection(handle.result());
  await admin.clearFaults();
  const { run } = await sync(installation, name);
  expect(run.status).toBe('succeeded');
  expect(await readHeld(name)).toMatchObject({ service_connection_id: `conn-${other}` });
});

proofTest('a token set while the first responses are in flight takes effect', async () => {
  const { name, other } = await companies();
  await admin.addFault({ match: { connection: name }, fault: { kind: 'slow', ms: 6_000 } });
  await admin.clearRequests();
  const handle = await startSync(installation, name);
  await untilRequested(({ connection }) => connection === name);
  const set = await installation.run(['connection', 'set-token', name, '--token-stdin'], {
    input: `token-of-${other}`,
  });
  expect(set.code).toBe(0);
  await handle.result();
  expect(await readHeld(name)).toMatchObject({ service_connection_id: `conn-${other}` });
  expect((await installation.compare(name, { sourceConnection: other })).differences).toEqual([]);
});

test('a sync or reconcile that has read some lists does not succeed for a re-added connection', async () => {
  for (const kind of ['sync', 'reconcile'] as const) {
    const { name } = await companies();
    if (kind === 'reconcile') await sync(installation, name);
    await admin.addFault({ match: { connection: name, path: '/accounting/items' }, fault: down });
    const { workflowType, options } = startRequest(kind, { connection: name, reason: 'test' }, 'people');
    const handle = await client.workflow.start(workflowType, options);
    await eventually(async () => {
      const read = await rows(
        warehouse,
        `select from sync.run_streams where connection_id = $1 and run_id = $2 and (status = 'succeeded' or totals is not null)`,
        [name, handle.firstExecutionRunId],
      );
      return read.length >= 5 ? true : undefined;
    });
    await replace(name, name);
    await admin.clearFaults();
    // Or it asked while no connection had the name.
    const { type } = (await rejection(handle.result())) as { type?: unknown };
    expect(['ConnectionReplaced', 'UnknownConnection']).toContain(type);
    expect(await rows(warehouse, 'select status from sync.runs where connection_id = $1', [name])).toEqual(
      [],
    );
  }
});

proofTest('a backfill whose plan was removed with its connection does not succeed', async () => {
  const { name } = await companies();
  await admin.addFault({ match: { connection: name }, fault: down });
  const input = { connection: name, from: '2000-01-01', to: '2030-01-01', reason: 'test' };
  const { workflowType, options } = startRequest('backfill', input, 'people');
  const handle = await client.workflow.start(workflowType, options);
  await eventually(async () => {
    const met = 'select from sync.run_streams where connection_id = $1 and requests > 0';
    return (await rows(warehouse, met, [name])).length > 0 ? true : undefined;
  });
  await replace(name, name);
  await admin.clearFaults();
  expect(await rejection(handle.result())).toMatchObject({ type: 'ConnectionReplaced' });
});

proofTest('a replay lands nothing of the previous company in a re-added connection', async () => {
  const { name, other } = await companies();
  await admin.configure({ missingRecordStatus: 404 });
  await land(warehouse, { connectionId: name, stream: 'bills', pages: [[bill('kept', { memo: '7' })]] });
  // A payload that a later release may accept.
  await warehouse.pool.query('update sync.quarantine set payload = $2 where connection_id = $1', [
    name,
    bill('kept', { memo: '"of the company before"' }),
  ]);
  await admin.addFault({ match: { connection: name, path: '/accounting/bills/' }, fault: down });
  await admin.clearRequests();
  const replay = installation.run(['quarantine', 'replay', '--connection', name]);
  await untilRequested(
    ({ path, connection }) => connection === name && path.startsWith('/accounting/bills/'),
  );
  await replace(name, other);
  await admin.clearFaults();
  const { code, stdout, stderr } = await replay;
  expect(code).not.toBe(0);
  expect(stdout + stderr).toContain('was removed while this run was under way');
  expect(await readHeld(name)).toMatchObject({ bills: 0, versions: 0 });
});

test('"connection remove" terminates running workflows, so that a re-added connection gets a new sync', async () => {
  const { name } = await companies();
  await admin.addFault({ match: { connection: name, path: '/accounting/items' }, fault: down });
  const handle = await startSync(installation, name);
  await untilRequested(({ path }) => path === '/accounting/items');
  expect((await installation.run(['connection', 'remove', name])).code).toBe(0);
  expect(await rejection(handle.result())).toMatchObject({ name: 'TerminatedFailure' });
  const added = await installation.run(['connection', 'add', name, '--token-stdin', '--no-schedule'], {
    input: `token-of-${name}`,
  });
  expect(added.code).toBe(0);
  await admin.clearFaults();
  expect((await installation.run(['sync', name])).code).toBe(0);
  expect((await installation.compare(name)).differences).toEqual([]);
});

/** A connection, and another company at the service. */
async function companies(): Promise<{ name: string; other: string }> {
  const name = await installation.connect({ records: 40 });
  const other = `${name}-other`;
  const accessToken = `token-of-${other}`;
  await admin.execute({
    kind: 'add-connection',
    name: other,
    platform: 'QUICKBOOKS',
    records: 40,
    accessToken,
  });
  return { name, other };
}

/** Replaces a connection as the commands do when Temporal is unreachable, so that running work continues. */
async function replace(name: string, by: string): Promise<void> {
  await removeConnection(warehouse, { connectionId: name, keepData: false });
  await addConnection(warehouse, secretKey, {
    connectionId: name,
    apiAddress: installation.sandbox.url,
    token: `token-of-${by}`,
    expandPlatformData: false,
  });
}

async function untilRequested(
  is: (request: { path: string; connection: string | null }) => boolean,
): Promise<void> {
  await eventually(async () => ((await admin.requests()).some(is) ? true : undefined));
}

function readHeld(name: string): Promise<Row> {
  return row(
    warehouse,
    `select service_connection_id,
       (select count(*)::int from finance.bills where connection_id = $1) as bills,
       (select count(*)::int from history.record_versions where connection_id = $1) as versions
     from sync.connections where connection_id = $1`,
    [name],
  );
}

/** The error with which a workflow failed. */
async function rejection(result: Promise<unknown>): Promise<unknown> {
  const failure = await result.then(
    (value) => ({ succeeded: value }),
    (error: unknown) => error,
  );
  let cause = failure;
  while (cause instanceof Error && cause.cause instanceof Error) cause = cause.cause;
  return cause;
}
