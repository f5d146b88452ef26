import { afterEach, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { fetchEvents, timerSummaries } from '../support/workflow-history.ts';
import { createInstallation } from '../support/installation.ts';
import { proofTest } from '../support/proof-test.ts';
import { row } from '../support/rows.ts';
import { startSync, sync } from '../support/sync.ts';
import { appliedInbox, changeBill, readIds, readMemo, readListeningUrl } from '../webhooks/company.ts';
import { send } from '../webhooks/webhook.ts';

/** A worker whose clock is two hours ahead of those of Postgres, Temporal and the service. */
const installation = await createInstallation();
const { admin, client, warehouse } = installation;
const worker = await installation.startWorker({ NODE_OPTIONS: `--import=${twoHoursAhead()}` });

afterEach(() => admin.clearFaults());

test('a worker with a clock two hours ahead pauses after a 429 no longer than the service asked', async () => {
  const [limited, other] = [await installation.connect(), await installation.connect()];
  await admin.addFault({
    match: { connection: limited, path: '/accounting/bills' },
    times: 1,
    fault: { kind: 'status', status: 429, code: 'RATE_LIMIT_EXCEEDED', retryAfter: '3' },
  });
  const handle = await startSync(installation, limited);
  await eventually(async () => ((await timerSummaries(handle)).length > 0 ? true : undefined));
  const silent = await row(
    warehouse,
    `select extract(epoch from max(blocked_until) - now())::float8 as seconds from sync.api_budgets`,
  );
  expect(silent.seconds).toBeLessThanOrEqual(3);
  const timers = (await fetchEvents(handle)).flatMap(({ timerStartedEventAttributes: timer }) => timer ?? []);
  expect(timers.map(({ startToFireTimeout }) => Number(startToFireTimeout?.seconds))).toEqual([3]);
  await handle.result();
  expect((await sync(installation, other)).run.status).toBe('succeeded');
});

proofTest(
  'a worker with a clock two hours ahead applies webhooks after a 429 as soon as the service allows',
  async () => {
    const connection = await installation.connect();
    await sync(installation, connection);
    const [id = ''] = await readIds(installation, connection);
    await admin.addFault({
      match: { connection, path: `/accounting/bills/${id}` },
      times: 1,
      fault: { kind: 'status', status: 429, code: 'RATE_LIMIT_EXCEEDED', retryAfter: '2' },
    });
    await send(
      readListeningUrl(worker),
      await changeBill(installation, connection, { id, memo: 'after the pause' }),
    );
    await appliedInbox(installation, connection);
    expect(await readMemo(installation, connection, id)).toBe('after the pause');
    // Its workflow waited just as long.
    await eventually(async () => {
      const { status } = await client.workflow.getHandle(`webhooks/${connection}`).describe();
      return status.name === 'COMPLETED' ? true : undefined;
    });
  },
);

function twoHoursAhead(): string {
  const code = `
    const own = Date.now.bind(Date);
    const now = () => own() + 7200000;
    globalThis.Date = new Proxy(Date, {
      construct: (target, given) => Reflect.construct(target, given.length === 0 ? [now()] : given),
      get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
    });`;
  return `data:text/javascript,${encodeURIComponent(code)}`;
}
