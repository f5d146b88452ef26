import { expect, test } from 'vitest';
import { pauseConnection } from '../../warehouse/connections/pause-connection.ts';
import { resumeConnection } from '../../warehouse/connections/resume-connection.ts';
import { setToken } from '../../warehouse/connections/set-token.ts';
import { eventually } from '../support/eventually.ts';
import { timerSummaries } from '../support/workflow-history.ts';
import { createInstallation, secretKey } from '../support/installation.ts';
import { proofTest } from '../support/proof-test.ts';
import { row, rows } from '../support/rows.ts';
import { sync } from '../support/sync.ts';
import {
  appliedInbox,
  changeBill,
  countFetches,
  readIds,
  readInbox,
  readMemo,
  readRecord,
  syncedCompany,
  readListeningUrl,
} from './company.ts';
import { entityWebhook, send } from './webhook.ts';

const installation = await createInstallation();
const { admin, client, warehouse } = installation;
const worker = await installation.startWorker();
const url = readListeningUrl(worker);

test('a change lands in finance after its webhook, in a run of its own and without a schedule', async () => {
  const connection = await syncedCompany(installation);
  const [id = ''] = await readIds(installation, connection);
  expect(await send(url, await changeBill(installation, connection, { id, memo: 'by webhook' }))).toBe(200);
  const [entry] = await appliedInbox(installation, connection);
  expect(entry).toMatchObject({ status: 'applied', outcome: 'landed', deliveries: 1 });
  expect(await readMemo(installation, connection, id)).toBe('by webhook');
  const run = await eventually(async () => {
    const [found] = await rows(
      warehouse,
      `select r.kind, r.status, s.updated::int, s.requests::int
       from sync.runs r join sync.run_streams s using (run_id)
       where run_id = $1 and r.finished_at is not null`,
      [entry?.run_id],
    );
    return found;
  });
  expect(run).toEqual({ kind: 'webhook', status: 'succeeded', updated: 1, requests: 1 });
  expect(
    await row(warehouse, 'select _run_id from finance.bills where connection_id = $1 and id = $2', [
      ...[connection, id],
    ]),
  ).toEqual({ _run_id: entry?.run_id });
  expect((await installation.compare(connection)).differences).toEqual([]);
});

test('a record is fetched once for a burst of webhooks about it', async () => {
  const connection = await syncedCompany(installation);
  const [id = ''] = await readIds(installation, connection);
  const last = await changeBill(installation, connection, { id, memo: 'last' });
  const burst = Array.from({ length: 50 }, (_, index) => last.replace('"last"', `"memo ${index}"`));
  // All of them wait before the first is applied, however slowly they arrive.
  await pauseConnection(warehouse, { connectionId: connection, why: 'the burst arrives' });
  expect(new Set(await Promise.all(burst.map((body) => send(url, body))))).toEqual(new Set([200]));
  await resumeConnection(warehouse, { connectionId: connection });
  expect(await appliedInbox(installation, connection)).toHaveLength(50);
  expect(await countFetches(installation, connection, id)).toBe(1);
  expect(await readMemo(installation, connection, id)).toBe('last');
});

proofTest('webhooks out of order, late or twice never bring back an older version', async () => {
  const connection = await syncedCompany(installation);
  const [id = ''] = await readIds(installation, connection);
  const [first, second] = [
    await changeBill(installation, connection, { id, memo: 'first' }),
    await changeBill(installation, connection, { id, memo: 'second' }),
  ];
  for (const body of [second, first, second, first]) {
    expect(await send(url, body)).toBe(200);
    await appliedInbox(installation, connection);
    expect(await readMemo(installation, connection, id)).toBe('second');
  }
  expect((await installation.compare(connection)).differences).toEqual([]);
});

proofTest('a 429 is waited out by a timer whose summary says so', async () => {
  const connection = await syncedCompany(installation);
  const [id = ''] = await readIds(installation, connection);
  await admin.addFault({
    match: { connection, path: `/accounting/bills/${id}` },
    times: 1,
    fault: { kind: 'status', status: 429, code: 'RATE_LIMIT_EXCEEDED', retryAfter: '2' },
  });
  await send(url, await changeBill(installation, connection, { id, memo: 'after the pause' }));
  const [entry] = await appliedInbox(installation, connection);
  expect(entry).toMatchObject({ outcome: 'landed', tries: 1 });
  const summaries: string[] = [];
  for await (const { runId } of client.workflow.list({ query: `WorkflowId = 'webhooks/${connection}'` })) {
    summaries.push(...(await timerSummaries(client.workflow.getHandle(`webhooks/${connection}`, runId))));
  }
  expect(summaries).toEqual(['The service asked for a pause: too many requests']);
});

proofTest('a record whose request fails is retried, and does not delay other records', async () => {
  const connection = await syncedCompany(installation);
  const [bad = '', good = ''] = await readIds(installation, connection, { count: 2 });
  await admin.addFault({
    match: { connection, path: `/accounting/bills/${bad}` },
    times: 2,
    fault: { kind: 'status', status: 500, code: 'INTERNAL' },
  });
  const bodies = [
    await changeBill(installation, connection, { id: bad, memo: 'bad' }),
    await changeBill(installation, connection, { id: good, memo: 'good' }),
  ];
  await Promise.all(bodies.map((body) => send(url, body)));
  await eventually(async () =>
    (await readMemo(installation, connection, good)) === 'good' ? true : undefined,
  );
  const inbox = await appliedInbox(installation, connection);
  expect(inbox.find(({ record_id }) => record_id === bad)).toMatchObject({ outcome: 'landed', tries: 2 });
});

test('refused credentials leave webhooks waiting, and a new token gets them applied', async () => {
  const connection = await syncedCompany(installation);
  const [id = ''] = await readIds(installation, connection);
  const refusal = { status: 401, code: 'INVALID_CREDENTIALS' };
  await admin.execute({ kind: 'refuse', connection, refusal });
  await send(url, await changeBill(installation, connection, { id, memo: 'late' }));
  const failed = await eventually(async () => {
    for await (const found of client.workflow.list({ query: `WorkflowId = 'webhooks/${connection}'` })) {
      if (found.status.name === 'FAILED') return found;
    }
    return undefined;
  });
  const attributes = failed.typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]);
  expect(attributes).toContainEqual(['DaybookFailure', 'CredentialsRefused']);
  // A sync has met the same failure, and paused the connection, which is reported.
  await eventually(async () => {
    const { rows } = await warehouse.pool.query(
      `select from sync.connections where connection_id = $1 and paused_by = 'daybook'`,
      [connection],
    );
    return rows.length > 0 ? true : undefined;
  });
  const asked = await countFetches(installation, connection, id);
  await send(url, await changeBill(installation, connection, { id, memo: 'later' }));
  expect(await readInbox(installation, connection)).toMatchObject([
    { status: 'waiting' },
    { status: 'waiting' },
  ]);
  await admin.execute({ kind: 'refuse', connection, refusal: null });
  expect(await countFetches(installation, connection, id)).toBe(asked);
  await setToken(warehouse, secretKey, { connectionId: connection, token: `token-of-${connection}` });
  await appliedInbox(installation, connection);
  expect(await readMemo(installation, connection, id)).toBe('later');
});

proofTest('webhooks of a paused connection wait until it is resumed', async () => {
  const connection = await syncedCompany(installation);
  const [id = ''] = await readIds(installation, connection);
  const other = await syncedCompany(installation);
  const [otherId = ''] = await readIds(installation, other);
  await pauseConnection(warehouse, { connectionId: connection, why: 'month end' });
  await send(url, await changeBill(installation, connection, { id, memo: 'paused' }));
  await send(url, await changeBill(installation, other, { id: otherId, memo: 'not paused' }));
  await appliedInbox(installation, other);
  expect(await readInbox(installation, connection)).toMatchObject([{ status: 'waiting', tries: 0 }]);
  await resumeConnection(warehouse, { connectionId: connection });
  await appliedInbox(installation, connection);
  expect(await readMemo(installation, connection, id)).toBe('paused');
});

test('an answer from another company writes nothing', async () => {
  const connection = await syncedCompany(installation);
  const [id = ''] = await readIds(installation, connection);
  const body = await changeBill(installation, connection, { id, memo: 'of another' });
  await warehouse.pool.query(`update sync.connections set org_id = 'another' where connection_id = $1`, [
    connection,
  ]);
  await send(url, body);
  await eventually(async () => {
    const [run] = await rows(
      warehouse,
      `select from sync.runs r join sync.run_streams s using (run_id)
       where r.connection_id = $1 and r.kind = 'webhook' and r.status = 'failed' and s.failure_type = 'IdentityChanged'`,
      [connection],
    );
    return run;
  });
  expect(await readMemo(installation, connection, id)).not.toBe('of another');
  expect(await readInbox(installation, connection)).toMatchObject([{ status: 'waiting' }]);
});

proofTest('status counts changes by webhook, and changes that only a sync brought', async () => {
  const connection = await syncedCompany(installation);
  const [announced = '', unannounced = ''] = await readIds(installation, connection, { count: 2 });
  await send(url, await changeBill(installation, connection, { id: announced, memo: 'told' }));
  await appliedInbox(installation, connection);
  await changeBill(installation, connection, { id: unannounced, memo: 'its webhook is lost' });
  await sync(installation, connection);
  const { stdout } = await installation.run(['status', connection, '--json']);
  const { connections } = JSON.parse(stdout) as { connections: { webhooks: object; last_run: object }[] };
  expect(connections[0]).toMatchObject({
    webhooks: { waiting: 0, applied_24h: 1, unannounced_24h: 1 },
    last_run: { kind: 'sync' },
  });
  const { stdout: text } = await installation.run(['status', connection]);
  expect(text).toContain('changes in 24 h: 1 by webhook, 1 by sync only');
});

test('histories of webhook workflows, and the log, contain no token, ID or content of a record', async () => {
  const connection = await syncedCompany(installation);
  const [id = ''] = await readIds(installation, connection);
  const memo = 'planted-memo-of-a-webhook';
  await send(url, await changeBill(installation, connection, { id, memo }));
  await appliedInbox(installation, connection);
  let histories = '';
  for await (const { runId } of client.workflow.list({ query: `WorkflowId = 'webhooks/${connection}'` })) {
    const { events } = await client.workflow.getHandle(`webhooks/${connection}`, runId).fetchHistory();
    histories += (events ?? []).flatMap(textsIn).join('\n');
  }
  expect(histories).toContain(connection);
  for (const planted of [memo, id, `token-of-${connection}`]) {
    expect(histories).not.toContain(planted);
    expect(worker.output()).not.toContain(planted);
  }
});

function textsIn(value: unknown): string[] {
  if (value instanceof Uint8Array) return [Buffer.from(value).toString('utf8')];
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

proofTest('a record that cannot land goes to quarantine, and its webhook is closed', async () => {
  const connection = await syncedCompany(installation);
  const [id = ''] = await readIds(installation, connection);
  await admin.execute({
    kind: 'change',
    connection,
    resource: 'bills',
    id,
    patch: '{"total_amount":"much"}',
  });
  const record = (await readRecord(installation, connection, { id })) ?? '';
  await send(url, entityWebhook(connection, { entity: 'BILL', what: 'UPDATED', record }));
  expect(await appliedInbox(installation, connection)).toMatchObject([
    { outcome: 'the record could not be landed and waits in quarantine' },
  ]);
  expect(
    await rows(
      warehouse,
      `select record_id from sync.quarantine where connection_id = $1 and status = 'open'`,
      [connection],
    ),
  ).toEqual([{ record_id: id }]);
});

proofTest('webhooks held back because the clock of Postgres was two hours ahead are applied', async () => {
  const connection = await syncedCompany(installation);
  const [held = '', putOff = ''] = await readIds(installation, connection, { count: 2 });
  await warehouse.pool.query(
    `update sync.connections set webhooks_after = now() + interval '2 hours' where connection_id = $1`,
    [connection],
  );
  await send(url, await changeBill(installation, connection, { id: held, memo: 'held' }));
  await appliedInbox(installation, connection);
  expect(await readMemo(installation, connection, held)).toBe('held');

  await pauseConnection(warehouse, { connectionId: connection, why: 'to put it off' });
  await send(url, await changeBill(installation, connection, { id: putOff, memo: 'put off' }));
  await warehouse.pool.query(
    `update sync.webhook_inbox set try_after = now() + interval '2 hours'
     where connection_id = $1 and status = 'waiting'`,
    [connection],
  );
  await resumeConnection(warehouse, { connectionId: connection });
  await appliedInbox(installation, connection);
  expect(await readMemo(installation, connection, putOff)).toBe('put off');
});
