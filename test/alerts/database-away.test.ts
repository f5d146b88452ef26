import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../embedded/free-port.ts';
import { startPostgres } from '../../embedded/postgres.ts';
import { migrate } from '../../warehouse/schema/migrate.ts';
import { openWarehouse } from '../../warehouse/open-warehouse.ts';
import {
  createDatabaseWatch,
  type DatabaseWatch,
  type WatchPatience,
} from '../../worker/alerts/database-watch.ts';
import { watchAlerts } from '../../worker/alerts/watch-alerts.ts';
import { eventually } from '../support/eventually.ts';
import { temporaryFolder } from '../embedded/temporary-folder.ts';
import { startReceiver, type AlertReceiver } from './alert-receiver.ts';

test('a stopped Postgres is reported once, and so is its return', async () => {
  const options = { dataDir: join(await temporaryFolder(), 'postgres'), port: await freePort() };
  const postgres = await startPostgres(options);
  onTestFinished(() => postgres.stop());
  const warehouse = openWarehouse({ url: postgres.url, connections: 2 });
  onTestFinished(() => warehouse.close());
  await migrate(warehouse);
  const receiver = await startReceiver();
  const stopping = new AbortController();
  const temporal = new Client({ connection: Connection.lazy({ address: '127.0.0.1:1' }) });
  const ended = watchAlerts(
    { warehouse, temporal, url: receiver.url, version: '1.2.3' },
    {
      logger: pino({ level: 'silent' }),
      stopping: stopping.signal,
      everyMilliseconds: 50,
      database: createDatabaseWatch({ away: 1_500, refusing: 1_500, trying: 5_000 }),
    },
  );
  await postgres.stop();
  const [opened] = await receiver.gets(1);
  expect(opened).toMatchObject({ event: 'open', alert: { id: null, kind: 'database', connection: null } });
  expect(opened!.text).toMatch(
    /^Daybook: Postgres has not answered since 20.* UTC \((ECONNREFUSED|57P03)\), so nothing is synced\. What to do: Bring it back/,
  );
  expect(opened!.text).not.toMatch(/127\.0\.0\.1|:\/\//);
  const again = await startPostgres(options);
  onTestFinished(() => again.stop());
  const [, resolved] = await receiver.gets(2);
  expect(resolved).toMatchObject({ event: 'resolve', alert: { kind: 'database' } });
  expect(resolved!.text).toMatch(/^Daybook: resolved: Postgres answers, and accepts writes again\./);
  stopping.abort();
  await ended;
  expect(receiver.received).toHaveLength(2);
});

test('an outage whose alert did not get out is not reported later, unless it may have got out', async () => {
  const watch = createDatabaseWatch({ away: 1, refusing: 1, trying: 5_000 });
  for (const outcome of ['undelivered', 'unknown'] as const) {
    watch.failed(withCode('53300'));
    const away = await eventually(() => Promise.resolve(watch.due()));
    expect(away).toMatchObject({
      message: expect.stringContaining('(it has no connection left)') as string,
      resolved_at: null,
    });
    watch.settle(outcome);
    watch.answered();
    if (outcome === 'undelivered') expect(watch.due()).toBeUndefined();
    else expect(watch.due()).toMatchObject({ resolved_at: expect.any(Date) as Date });
  }
});

test('the end of a reported outage is still reported after a second, unreported outage', async () => {
  const watch = createDatabaseWatch({ away: 1, refusing: 1, trying: 5_000 });
  for (const outcome of ['delivered', 'undelivered'] as const) {
    watch.failed(withCode('53300'));
    expect(await eventually(() => Promise.resolve(watch.due()))).toMatchObject({ resolved_at: null });
    watch.settle(outcome);
    watch.answered();
    expect(watch.due()).toMatchObject({ resolved_at: expect.any(Date) as Date });
    watch.settle('undelivered');
  }
});

test('a full disk is reported at once, although small statements succeed, and ends when no write is refused', async () => {
  const watch = createDatabaseWatch({ away: 60_000, refusing: 200, trying: 5_000 });
  expect(watch.due()).toBeUndefined();
  watch.refused(withCode('ECONNREFUSED'));
  watch.refused(withCode('23505'));
  expect(watch.due()).toBeUndefined();
  watch.refused(withCode('53100'));
  watch.answered();
  expect(watch.due()).toMatchObject({
    message: expect.stringMatching(/^Postgres has refused to write since .* \(its disk is full\)/) as string,
    resolved_at: null,
  });
  watch.settle('delivered');
  expect(watch.due()).toBeUndefined();
  expect(await eventually(() => Promise.resolve(watch.due()))).toMatchObject({
    resolved_at: expect.any(Date) as Date,
  });
});

test('a receiver that refuses a database alert is not retried every round, but after a while', async () => {
  const receiver = await startReceiver();
  receiver.answer = 400;
  const hour = 3_600_000;
  const watch = watchForDatabase(receiver, { away: hour, refusing: hour, trying: hour });
  watch.refused(withCode('53100'));
  await receiver.gets(1);
  const { rounds } = watch;
  await eventually(() => Promise.resolve(watch.rounds > rounds + 20 ? true : undefined));
  expect(receiver.received).toHaveLength(1);
});

test('a refused database alert is retried until the receiver accepts it', async () => {
  const receiver = await startReceiver();
  receiver.answer = 400;
  const watch = watchForDatabase(receiver, { away: 3_600_000, refusing: 3_600_000, trying: 1 });
  watch.refused(withCode('53100'));
  await receiver.gets(3);
  receiver.answer = 200;
  expect(await receiver.gets(4)).toMatchObject(
    Array.from({ length: 4 }, () => ({ event: 'open', alert: { kind: 'database' } })),
  );
});

/** Watches without a Postgres until the test is over, and counts how often it was asked for what to report. */
function watchForDatabase(
  receiver: AlertReceiver,
  patience: WatchPatience,
): DatabaseWatch & { readonly rounds: number } {
  const watch = createDatabaseWatch(patience);
  const counted = {
    ...watch,
    rounds: 0,
    due() {
      counted.rounds += 1;
      return watch.due();
    },
  };
  const warehouse = openWarehouse({ url: 'postgres://nobody@127.0.0.1:1/nothing', connections: 1 });
  const temporal = new Client({ connection: Connection.lazy({ address: '127.0.0.1:1' }) });
  const stopping = new AbortController();
  const ended = watchAlerts(
    { warehouse, temporal, url: receiver.url, version: '1.2.3' },
    {
      logger: pino({ level: 'silent' }),
      stopping: stopping.signal,
      everyMilliseconds: 50,
      database: counted,
    },
  );
  onTestFinished(async () => {
    stopping.abort();
    await ended;
    await warehouse.close();
  });
  return counted;
}

function withCode(code: string): Error {
  return Object.assign(new Error('refused'), { code });
}
