import { Client, Connection } from '@temporalio/client';
import { pino, type Logger } from 'pino';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { claimDelivery } from '../../warehouse/alerts/claim-delivery.ts';
import { judgeAlerts } from '../../warehouse/alerts/judge-alerts.ts';
import { settleDelivery } from '../../warehouse/alerts/settle-delivery.ts';
import { watchAlerts, type AlertPlaces } from '../../worker/alerts/watch-alerts.ts';
import { registry } from '../../worker/metrics.ts';
import { eventually } from '../support/eventually.ts';
import { row, rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startReceiver } from './alert-receiver.ts';
import { addRun, addStream, failSync } from './facts.ts';

const { warehouse } = await createTestDatabase();
/** A Temporal that cannot be reached. It is only asked for pauses, and only for stale connections. */
const temporal = new Client({ connection: Connection.lazy({ address: '127.0.0.1:1' }) });

let name: string;
beforeEach(async () => {
  await warehouse.pool.query(`
    delete from sync.connections; delete from sync.alerts; delete from sync.settings where name = 'alerts_judged_at'`);
  name = await addTestConnection(warehouse);
});

test('two watchers report the opening and the end of an alert once each, in text that stands alone', async () => {
  const receiver = await startReceiver();
  watch({ url: receiver.url });
  watch({ url: receiver.url });
  await stall('items');
  const [opened] = await receiver.gets(1);
  await stall('bills');
  await eventually(() => rowsOfMessage('bills, items'));
  await warehouse.pool.query('update sync.streams set stalled_at = null');
  const [, resolved] = await receiver.gets(2);
  await judgedAgain();
  expect(receiver.received).toHaveLength(2);
  expect(opened).toMatchObject({
    event: 'open',
    text: `Daybook: ${opened!.alert.message} What to do: ${opened!.alert.remedy}`,
    alert: { kind: 'stalled', connection: name, resolved_at: null },
    headers: { 'user-agent': 'daybook/1.2.3', 'content-type': 'application/json' },
  });
  expect(Object.keys(opened!.alert).sort()).toEqual([
    'connection',
    'id',
    'kind',
    'message',
    'opened_at',
    'remedy',
    'resolved_at',
  ]);
  expect(resolved).toMatchObject({
    event: 'resolve',
    alert: {
      id: opened!.alert.id,
      opened_at: opened!.alert.opened_at,
      resolved_at: expect.any(String) as string,
    },
  });
  expect(resolved!.text).toMatch(
    new RegExp(`^Daybook: resolved: ${name}: no stream has stalled. The alert was: ${name}: `),
  );
});

test('the text of a failure is escaped for Slack, and unchanged in the fields of the alert', async () => {
  const receiver = await startReceiver();
  watch({ url: receiver.url });
  const planted = '<!channel> <https://evil.example/login|Your session expired: sign in> & more';
  await failSync(warehouse, name, planted);
  const [opened] = await receiver.gets(1);
  expect(opened!.alert.message).toContain(planted);
  expect(opened!.text).toContain(
    '&lt;!channel&gt; &lt;https://evil.example/login|Your session expired: sign in&gt; &amp; more',
  );
  expect(opened!.text).not.toMatch(/[<>]/);
});

test('a receiver that was down is told when it is up, and its outage is logged once, without its address', async () => {
  const first = await startReceiver();
  await first.close();
  const log = watch({ url: first.url });
  await stall('items');
  await eventually(() => tried());
  await triedNow();
  const receiver = await startReceiver({ port: first.port });
  receiver.answer = 503;
  await triedNow();
  await receiver.gets(1);
  // The alert is received before the result is recorded, which puts off the next try.
  await eventually(() => tried());
  receiver.answer = 200;
  await triedNow();
  await receiver.gets(2);
  await eventually(() =>
    row(warehouse, 'select from sync.alerts where open_sent_at is not null and try_after is null'),
  );
  // On a busy machine Temporal may answer late, which is logged as well.
  const ofReceiver = log.filter(({ msg }) => msg.includes('DAYBOOK_ALERT_URL'));
  expect(ofReceiver.map(({ msg }) => msg)).toEqual([
    'Could not send an alert to DAYBOOK_ALERT_URL; retrying.',
    'Alerts reach DAYBOOK_ALERT_URL again.',
  ]);
  expect(JSON.stringify(log)).not.toContain('planted');
  expect(ofReceiver[0]).toMatchObject({ problem: 'ECONNREFUSED' });
});

test('alerts that a receiver keeps refusing do not delay new ones, and take turns', async () => {
  const refused = Array.from({ length: 40 }, (_, index) => `refused-${index}`);
  for (const message of refused) await openAlert(message);
  expect(await claimedAll(refused.length)).toEqual(refused);
  await openAlert('new');
  expect(await claimedAll(refused.length + 1)).toEqual(['new', ...refused]);
});

test('an alert that ended before it could be sent is not sent', async () => {
  await stall('items');
  await judge();
  await warehouse.pool.query('delete from sync.streams');
  await judge();
  await stall('bills');
  const receiver = await startReceiver();
  watch({ url: receiver.url });
  await receiver.gets(1);
  await judgedAgain();
  expect(receiver.received).toMatchObject([
    { event: 'open', alert: { message: expect.stringContaining('of bills') as string } },
  ]);
});

test('an alert opened by a killed process is sent by another', async () => {
  await stall('items');
  await judge();
  const receiver = await startReceiver();
  watch({ url: receiver.url });
  expect(await receiver.gets(1)).toMatchObject([{ event: 'open' }]);
});

test('an alert being sent by a killed process is sent again by another, and so is its end', async () => {
  await stall('items');
  await judge();
  expect(await claimDelivery(warehouse)).toMatchObject({ event: 'open' });
  const receiver = await startReceiver();
  watch({ url: receiver.url });
  await judgedAgain();
  // For so long it may still be alive.
  expect(receiver.received).toEqual([]);
  await triedNow();
  await receiver.gets(1);

  await eventually(() => row(warehouse, 'select from sync.alerts where try_after is null'));
  await warehouse.pool.query(
    `update sync.alerts set try_after = now() + interval '15 seconds'; delete from sync.streams`,
  );
  await eventually(() => row(warehouse, 'select from sync.alerts where resolved_at is not null'));
  await triedNow();
  expect(await receiver.gets(2)).toMatchObject([{ event: 'open' }, { event: 'resolve' }]);
});

test('a receiver that does not answer delays neither the judging nor the end of the process', async () => {
  const receiver = await startReceiver();
  receiver.answer = 'nothing';
  const stopping = new AbortController();
  const ended = watchAlerts(places(receiver.url), {
    logger: silent,
    stopping: stopping.signal,
    everyMilliseconds: 50,
  });
  await stall('items');
  await receiver.gets(1);
  await addRun(warehouse, { connection: name, kind: 'reconcile', status: 'failed', failure: 'It failed.' });
  await eventually(() => row(warehouse, `select from sync.alerts where kind = 'failed'`));
  const begin = performance.now();
  stopping.abort();
  await ended;
  expect(performance.now() - begin).toBeLessThan(1_000);
});

test('alerts without a receiver are stored, and counted in the metrics', async () => {
  watch({ url: undefined });
  await stall('items');
  await eventually(() =>
    row(warehouse, `select from sync.alerts where kind = 'stalled' and open_sent_at is null`),
  );
  await eventually(async () =>
    (await registry.metrics()).includes('daybook_open_alerts{kind="stalled"} 1') ? true : undefined,
  );
});

test('credentials in the address of a receiver become a header', async () => {
  const receiver = await startReceiver();
  watch({ url: receiver.url.replace('//', '//ops:p%40ss@') });
  await stall('items');
  const [opened] = await receiver.gets(1);
  expect(opened!.headers.authorization).toBe(`Basic ${Buffer.from('ops:p@ss').toString('base64')}`);
});

test('a connection is stale even if Temporal cannot say whether its schedule is paused', async () => {
  const receiver = await startReceiver();
  await warehouse.pool.query(`update sync.connections set sync_every = interval '5 minutes'`);
  await addStream(warehouse, { connection: name, stream: 'bills', completeMinutesAgo: 11 });
  watch({ url: receiver.url });
  expect(await receiver.gets(1)).toMatchObject([
    { event: 'open', alert: { kind: 'stale', connection: name } },
  ]);
});

const silent = pino({ level: 'silent' });

function places(url: string | undefined): AlertPlaces {
  return { warehouse, temporal, url, version: '1.2.3' };
}

/** Watches until the test is over, and returns its log. */
function watch({ url }: { url: string | undefined }): { msg: string }[] {
  const log: { msg: string }[] = [];
  const logger: Logger = pino({}, { write: (line: string) => log.push(JSON.parse(line) as { msg: string }) });
  const stopping = new AbortController();
  const ended = watchAlerts(places(url), { logger, stopping: stopping.signal, everyMilliseconds: 50 });
  onTestFinished(async () => {
    stopping.abort();
    await ended;
  });
  return log;
}

function judge(): Promise<void> {
  return judgeAlerts(warehouse, { pausedElsewhere: [] });
}

async function openAlert(message: string): Promise<void> {
  await warehouse.pool.query(
    `insert into sync.alerts (kind, connection_id, message, remedy) values ('failed', $1, $1, 'r')`,
    [message],
  );
}

/** Claims the next alerts, so many times, while the receiver takes none and each is due again at once. */
async function claimedAll(times: number): Promise<string[]> {
  const claimed: string[] = [];
  for (let time = 0; time < times; time += 1) {
    const delivery = await claimDelivery(warehouse);
    if (delivery === undefined) throw new Error('Nothing is due.');
    await settleDelivery(warehouse, delivery, 'undelivered');
    await warehouse.pool.query('update sync.alerts set try_after = clock_timestamp() where id = $1', [
      delivery.alert.id,
    ]);
    claimed.push(delivery.alert.message);
  }
  return claimed;
}

function stall(stream: string): Promise<void> {
  return addStream(warehouse, { connection: name, stream, stalled: true });
}

async function rowsOfMessage(part: string): Promise<unknown> {
  const [found] = await rows(warehouse, `select from sync.alerts where message like '%' || $1 || '%'`, [
    part,
  ]);
  return found;
}

/** Waits for two rounds of judging, after which everything due by now was reported. */
async function judgedAgain(): Promise<void> {
  for (let round = 0; round < 2; round += 1) {
    const before = await judgedAt();
    await eventually(async () => ((await judgedAt()) === before ? undefined : true));
  }
}

async function judgedAt(): Promise<unknown> {
  return (await rows(warehouse, `select value from sync.settings where name = 'alerts_judged_at'`))[0]?.value;
}

async function tried(): Promise<unknown> {
  return (await rows(warehouse, 'select from sync.alerts where tries > 0 and open_sent_at is null'))[0];
}

/** Makes the alerts due now, and waits until they were tried. */
async function triedNow(): Promise<void> {
  await warehouse.pool.query('update sync.alerts set try_after = now()');
  await eventually(async () =>
    (await rows(warehouse, 'select from sync.alerts where try_after <= now()')).length === 0
      ? true
      : undefined,
  );
}
