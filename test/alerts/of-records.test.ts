import { beforeEach, describe, expect, test } from 'vitest';
import { judgeAlerts } from '../../warehouse/alerts/judge-alerts.ts';
import { readOpenAlerts, type Alert } from '../../warehouse/alerts/read-alerts.ts';
import { pauseConnection } from '../../warehouse/connections/pause-connection.ts';
import { resumeConnection } from '../../warehouse/connections/resume-connection.ts';
import { setToken } from '../../warehouse/connections/set-token.ts';
import { dueConnections } from '../../warehouse/webhooks/due-connections.ts';
import { holdWebhooks } from '../../warehouse/webhooks/hold-webhooks.ts';
import { row } from '../support/rows.ts';
import { addTestConnection, testApiAddress, testKey } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { addEntry, addRun, addStream, addWebhook, succeedSync } from './facts.ts';

const { warehouse } = await createTestDatabase();

let name: string;
beforeEach(async () => {
  await warehouse.pool.query('delete from sync.connections; delete from sync.alerts; delete from sync.runs');
  name = await addTestConnection(warehouse);
});

test('the stalled alert names the streams, and ends when none is stalled', async () => {
  await addStream(warehouse, { connection: name, stream: 'items', stalled: true });
  await addStream(warehouse, { connection: name, stream: 'bills', stalled: true });
  await judge();
  const [alert] = await open();
  expect(alert).toMatchObject({
    kind: 'stalled',
    remedy: expect.stringContaining(`"daybook reconcile ${name}"`) as string,
  });
  expect(alert?.message).toContain('newer records of bills, items than its list shows');
  await warehouse.pool.query('update sync.streams set stalled_at = null');
  await judge();
  expect(await open()).toEqual([]);
});

test('the approval alert says how many records are gone and how to approve, and ends when nothing waits', async () => {
  const runId = await addRun(warehouse, {
    connection: name,
    kind: 'reconcile',
    status: 'partial',
    streams: [
      {
        stream: 'bills',
        status: 'partial',
        type: 'ApprovalNeeded',
        failure: '1200 of 2000 bills are gone at the source, and none was deleted.',
      },
    ],
  });
  await warehouse.pool.query(
    `insert into sync.discrepancies (connection_id, resource, record_id, kind, status, version, run_id)
     select $1, 'bills', 'bill ' || n, 'extra', 'confirmed', now(), $2 from generate_series(1, 1200) n`,
    [name, runId],
  );
  await judge();
  const alerts = await open();
  expect(alerts).toMatchObject([{ kind: 'approval' }]);
  expect(alerts[0]?.message).toContain('1200 of 2000 bills are gone at the source, and none was deleted.');
  expect(alerts[0]?.remedy).toContain(`"daybook reconcile ${name} --approve-deletes"`);
  expect(alerts[0]?.remedy).toContain(`signal approveDeletes to the workflow approve-deletes/${name}`);
  await warehouse.pool.query(`update sync.discrepancies set status = 'repaired', closed_at = now()`);
  await judge();
  expect(await open()).toEqual([]);
});

test('the approval alert ends when only records that never landed are left', async () => {
  const asked = {
    stream: 'bills',
    status: 'partial',
    type: 'ApprovalNeeded',
    failure: 'One is gone.',
  } as const;
  const runId = await addRun(warehouse, {
    connection: name,
    kind: 'reconcile',
    status: 'partial',
    streams: [asked],
  });
  await warehouse.pool.query(
    `insert into sync.discrepancies (connection_id, resource, record_id, kind, status, version, run_id)
     values ($1, 'bills', 'landed', 'extra', 'confirmed', now(), $2), ($1, 'bills', 'never landed', 'extra', 'confirmed', null, $2)`,
    [name, runId],
  );
  await judge();
  expect(await open()).toMatchObject([{ kind: 'approval' }]);
  await warehouse.pool.query(
    `update sync.discrepancies set status = 'repaired', closed_at = now() where record_id = 'landed'`,
  );
  await judge();
  expect(await open()).toEqual([]);
});

describe('the quarantine alert', () => {
  test('opens for records of the last 24 hours, counts them, and ends when none is left', async () => {
    await addEntry(warehouse, { connection: name, resource: 'bills', hoursAgo: 30 });
    await judge();
    expect(await open()).toEqual([]);
    await addEntry(warehouse, { connection: name, resource: 'bills', hoursAgo: 2 });
    await addEntry(warehouse, { connection: name, resource: 'items', hoursAgo: 1 });
    await judge();
    const [alert] = await open();
    expect(alert?.kind).toBe('quarantine');
    expect(alert?.message).toMatch(
      /: 2 records could not be landed since 20.* UTC \(1 of bills, 1 of items\) and wait in quarantine, 3 with those before\.$/,
    );
    expect(alert?.remedy).toContain('"daybook quarantine list"');
    await warehouse.pool.query(
      `update sync.quarantine set status = 'landed', closed_at = now() where first_seen_at > now() - interval '1 day'`,
    );
    await judge();
    expect(await open()).toEqual([]);
  });

  test('shows no text of a record', async () => {
    await addEntry(warehouse, {
      connection: name,
      resource: 'bills',
      hoursAgo: 1,
      payload: '{"memo":"planted body"}',
    });
    await judge();
    expect(JSON.stringify(await open())).not.toContain('planted');
  });
});

describe('the webhooks alert', () => {
  test('opens when a webhook waits for more than 60 seconds, and ends when it is applied', async () => {
    await addWebhook(warehouse, { connection: name, secondsAgo: 50 });
    await judge();
    expect(await open()).toEqual([]);
    await addWebhook(warehouse, { connection: name, secondsAgo: 70 });
    await judge();
    const alerts = await open();
    expect(alerts).toMatchObject([{ kind: 'webhooks' }]);
    expect(alerts[0]?.message).toMatch(
      /1 webhook has waited since .* the next sync brings the records that they announce\.$/,
    );
    await warehouse.pool.query(`update sync.webhook_inbox set status = 'applied', closed_at = now()`);
    await judge();
    expect(await open()).toEqual([]);
  });

  test('stays closed while the connection is paused or the service has asked for a pause', async () => {
    await addWebhook(warehouse, { connection: name, secondsAgo: 70 });
    await warehouse.pool.query(`update sync.connections set webhooks_after = now() + interval '1 minute'`);
    await judge();
    expect(await open()).toEqual([]);
    await warehouse.pool.query('update sync.connections set webhooks_after = null');
    await pauseConnection(warehouse, { connectionId: name, why: 'month end' });
    await judge();
    expect(await open()).toEqual([]);
    await resumeConnection(warehouse, { connectionId: name });
    await judge();
    expect(await open()).toEqual([]);
    await passed(61);
    await judge();
    expect(await open()).toHaveLength(1);
  });

  test.each([
    ['a sync got through', () => succeedSync(warehouse, name)],
    ['a token was set', () => setToken(warehouse, testKey, { connectionId: name, token: 'another' })],
  ])('counts the wait from when %s, which ended the pause requested by the service', async (_, end) => {
    await addWebhook(warehouse, { connection: name, secondsAgo: 600 });
    await holdWebhooks(warehouse, { connectionId: name, milliseconds: 300_000 });
    await end();
    await judge();
    expect(await open()).toEqual([]);
    expect(await dueConnections(warehouse, testApiAddress)).toEqual([name]);
    await passed(61);
    await judge();
    const [alert] = await open();
    expect(alert?.kind).toBe('webhooks');
    const { since } = await row(
      warehouse,
      `select to_char(webhooks_after at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as since from sync.connections`,
    );
    expect(alert?.message).toContain(`has waited since ${String(since)} UTC`);
  });
});

/** Moves back the time at which webhooks became due by so many seconds. */
async function passed(seconds: number): Promise<void> {
  await warehouse.pool.query(
    `update sync.connections set webhooks_after = webhooks_after - $1 * interval '1 second'`,
    [seconds],
  );
}

function judge(): Promise<void> {
  return judgeAlerts(warehouse, { pausedElsewhere: [] });
}

function open(): Promise<Alert[]> {
  return readOpenAlerts(warehouse, name);
}
