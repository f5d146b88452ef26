import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { waitingSessions } from '../support/blocked-session.ts';
import { bill } from '../support/finance-records.ts';
import { proofTest } from '../support/proof-test.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { page, type ScriptedService } from './scripted-service.ts';
import { createServiceStarter } from './serve.ts';

const { url, warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);
const hour = 3_600_000;
const start = Date.now() - 48 * hour;
const down = { status: 503, body: '' };

proofTest('two runs that fail behind a record dated in the future skip nothing', async () => {
  const service = await serve();
  const clock = createClock(service);
  const { old, future, list } = withFuture(service);
  await service.sync(['bills']);
  await clock.pass(hour);
  service.onList = (resource, query) =>
    query.get('cursor') === null ? page(service, resource, [future], 'next') : down;
  await service.sync(['bills']);
  service.onList = () => down;
  await service.sync(['bills']);
  await clock.pass(19 * hour);
  list([old, billAt('new', start + 5 * hour), future]);
  await service.sync(['bills']);
  expect(await service.ids('bills')).toEqual(['future', 'new', 'old']);
});

test('a future watermark from a release that did not store the service time skips nothing', async () => {
  const service = await serve();
  const clock = createClock(service);
  const old = billAt('old', start - hour);
  service.lists = { bills: [old] };
  await service.sync(['bills']);
  await service.rows(
    `update sync.streams set watermark = to_timestamp(${(start + 20 * hour) / 1000}), service_time = null, service_time_noted_at = null
     where connection_id = $1 and stream = 'bills' returning stream`,
  );
  await clock.pass(10 * hour);
  service.lists.bills = [old, billAt('new', start + hour)];
  await service.sync(['bills']);
  expect(await service.ids('bills')).toEqual(['new', 'old']);
});

proofTest(
  'a run that fails after its cursor is refused behind a record dated in the future skips nothing',
  async () => {
    const service = await serve();
    const clock = createClock(service);
    const { old, future, list } = withFuture(service);
    await service.sync(['bills']);
    await clock.pass(hour);
    let expired = false;
    service.onList = (resource, query) => {
      if (expired) return down;
      if (query.get('cursor') === null) return page(service, resource, [future], 'next');
      // A request without a limit is not the retry with a smaller page.
      if (query.get('limit') === null) expired = true;
      return { status: 400, body: '{"error_code":"INVALID_CURSOR"}' };
    };
    await service.sync(['bills']);
    await clock.pass(19 * hour);
    list([old, billAt('new', start + 5 * hour), future]);
    await service.sync(['bills']);
    expect(await service.ids('bills')).toEqual(['future', 'new', 'old']);
  },
);

test('a run that fails while the service clock is ahead loses nothing once the clock is corrected', async () => {
  const service = await serve();
  const clock = createClock(service);
  const old = billAt('old', start - hour);
  service.lists = { bills: [old] };
  await service.sync(['bills']);
  await clock.pass(hour);
  clock.ahead = 6 * hour;
  const edited = billAt('edited', clock.shown() - 1_000);
  service.onList = (resource, query) =>
    query.get('cursor') === null ? page(service, resource, [old, edited], 'next') : down;
  await service.sync(['bills']);
  await clock.pass(hour);
  clock.ahead = 0;
  service.onList = () => undefined;
  service.lists.bills = [old, billAt('new', clock.shown() - hour / 2), edited];
  await service.sync(['bills']);
  expect(await service.ids('bills')).toEqual(['edited', 'new', 'old']);
});

test('a sync after real time has passed a clock that was ahead reads edits made since the clock was corrected', async () => {
  const service = await serve();
  const clock = createClock(service);
  clock.ahead = 6 * hour;
  const ahead = billAt('ahead', clock.shown() - 2_000);
  service.lists = { bills: [ahead, billAt('edited', start - hour)] };
  await service.sync(['bills']);
  clock.ahead = 0;
  await clock.pass(8 * hour);
  const edited = bill('edited', { last_synced_at: iso(start + hour), memo: '"edited"' });
  service.lists.bills = [ahead, edited, billAt('new', start + 2 * hour)];
  await service.sync(['bills']);
  expect(await service.ids('bills')).toEqual(['ahead', 'edited', 'new']);
  expect(
    await service.rows('select memo from finance.bills where connection_id = $1 and memo is not null'),
  ).toEqual([{ memo: 'edited' }]);
  // Once is enough.
  await clock.pass(hour / 4);
  service.requests = [];
  await service.sync(['bills']);
  expect(service.requests.filter((path) => path.includes('bills')).length).toBe(1);
});

test('a clock set back between two pages of one read is detected at the second page', async () => {
  const service = await serve();
  const clock = createClock(service);
  clock.ahead = 6 * hour;
  const [first, last] = [billAt('first', clock.shown() - 2_000), billAt('last', clock.shown() - 1_000)];
  service.lists = { bills: [first, last] };
  service.onList = (resource, query) => {
    if (query.get('cursor') === null)
      return clock.ahead === 0 ? undefined : page(service, resource, [first], 'next');
    clock.ahead = 0;
    return undefined;
  };
  await service.sync(['bills']);
  await clock.pass(8 * hour);
  service.lists.bills = [billAt('new', start + 2 * hour), first, last];
  await service.sync(['bills']);
  expect(await service.ids('bills')).toEqual(['first', 'last', 'new']);
});

test('a run ended while the service clock is ahead starts over once the clock is corrected', async () => {
  const service = await serve();
  const clock = createClock(service);
  const old = billAt('old', start - hour);
  service.lists = { bills: [old] };
  await service.sync(['bills']);
  await clock.pass(hour);
  clock.ahead = 6 * hour;
  const [edited, last] = [billAt('edited', clock.shown() - 1_000), billAt('last', clock.shown())];
  service.lists.bills = [old, edited, last];
  let isRight = false;
  service.onList = async (resource, query) => {
    if (query.get('cursor') === null && !isRight) return page(service, resource, [old, edited], 'next');
    if (isRight) return undefined;
    isRight = true;
    await clock.pass(hour);
    clock.ahead = 0;
    service.lists.bills = [old, billAt('new', clock.shown() - hour / 2), edited, last];
    return down;
  };
  await service.sync(['bills']);
  await clock.pass(12 * hour);
  await service.sync(['bills']);
  expect(await service.ids('bills')).toEqual(['edited', 'last', 'new', 'old']);
});

test('a sync that resumes behind a record dated in the future reads newer records', async () => {
  const service = await serve();
  const clock = createClock(service);
  const old = billAt('old', start - hour);
  const future = ['f', 'g'].map((id) => billAt(id, start + 1_000 * hour));
  service.lists = { bills: [old] };
  await service.sync(['bills']);
  await clock.pass(hour);
  service.onList = (resource, query) =>
    query.get('cursor') === null
      ? page(service, resource, future.slice(0, 1), 'next')
      : { status: 401, body: '{}' };
  await service.sync(['bills']);
  await clock.pass(300_000);
  service.lists.bills = [old, billAt('new', clock.shown() - 60_000), ...future];
  service.onList = (resource, query) =>
    query.get('cursor') === 'next' ? page(service, resource, future.slice(1)) : undefined;
  await service.sync(['bills']);
  expect(await service.ids('bills')).toEqual(['f', 'g', 'new', 'old']);
});

test('a sync completes when servers of one service have clocks that differ by minutes', async () => {
  const service = await serve();
  let asked = 0;
  service.date = () => new Date(start + ((asked += 1) % 2) * 5 * 60_000);
  service.lists = { bills: Array.from({ length: 30 }, (_, n) => billAt(`b${n}`, start - hour + n * 1_000)) };
  for (let times = 0; times < 3; times += 1) await service.sync(['bills']);
  expect((await service.ids('bills')).length).toBe(30);
});

test('one response without a Date header does not hide that the service clock is set back later', async () => {
  const service = await serve();
  const clock = createClock(service);
  clock.ahead = 6 * hour;
  const ahead = billAt('ahead', clock.shown() - 2_000);
  service.lists = { bills: [ahead, billAt('edited', start - hour)] };
  await service.sync(['bills']);
  const { date } = service;
  service.date = () => null;
  await clock.pass(60_000);
  await service.sync(['bills']);
  service.date = date;
  clock.ahead = 0;
  await clock.pass(8 * hour);
  service.lists.bills = [ahead, billAt('edited', start + hour), billAt('new', start + 2 * hour)];
  await service.sync(['bills']);
  expect(await service.ids('bills')).toEqual(['ahead', 'edited', 'new']);
});

test('a sync loses nothing when the service clock is set back by slightly more than the lookback', async () => {
  const service = await serve();
  service.lookbackMilliseconds = 60_000;
  let ahead = 60_600;
  service.date = () => new Date(Date.now() + ahead);
  const began = await beginningOfSecond();
  const first = billAt('ahead', Date.now() + ahead);
  service.lists = { bills: [first] };
  await service.sync(['bills']);
  ahead = 0;
  service.lists.bills = [billAt('new', began + 300), first];
  for (let times = 0; times < 3; times += 1) {
    await beginningOfSecond();
    await service.sync(['bills']);
  }
  expect(await service.ids('bills')).toEqual(['ahead', 'new']);
});

test('a sync loses nothing when the service clock is set back while the host sleeps waiting for the database', async () => {
  const service = await serve();
  service.lookbackMilliseconds = 0;
  let shown = start;
  service.date = () => new Date(shown);
  const first = billAt('first', start - 20);
  service.lists = { bills: [first] };
  await service.sync(['bills']);
  const beside = await lockStream(service.connection);
  const sync = service.sync(['bills']);
  await waitingSessions(url);
  // The clock is set back ten minutes, and eleven and a half pass.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 700_000 });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  shown = start + 100_000;
  service.lists.bills = [billAt('told twice', start - 580_000), first, billAt('new', start + 99_000)];
  await beside.query('commit');
  await sync;
  expect(await service.ids('bills')).toEqual(['first', 'new', 'told twice']);
});

/** Locks a row that taking a pass waits for, after the database has returned the time of the pass. */
async function lockStream(connection: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('begin');
  await client.query('select from sync.streams where connection_id = $1 for update', [connection]);
  return client;
}

/** A `Date` has whole seconds. */
async function beginningOfSecond(): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 1_010 - (Date.now() % 1_000)));
  return Date.now();
}

/** An old bill, and one with a time hours ahead. `list` restores the service and shows these. */
function withFuture(service: ScriptedService): {
  old: string;
  future: string;
  list: (bills: string[]) => void;
} {
  const old = billAt('old', start - hour);
  service.lists = { bills: [old] };
  return {
    old,
    future: billAt('future', start + 8 * hour),
    list: (bills) => {
      service.onList = () => undefined;
      service.lists.bills = bills;
    },
  };
}

/** The clock of a service. Time that passes for it passes here too, by setting back the recorded times. */
function createClock(service: ScriptedService): {
  ahead: number;
  shown(): number;
  pass(milliseconds: number): Promise<void>;
} {
  let now = start;
  const clock = {
    ahead: 0,
    shown: () => now + clock.ahead,
    async pass(milliseconds: number) {
      now += milliseconds;
      await service.rows(
        `update sync.streams set service_time_noted_at = service_time_noted_at - interval '${milliseconds} milliseconds'
         where connection_id = $1 returning stream`,
      );
    },
  };
  service.date = () => new Date(clock.shown());
  return clock;
}

function billAt(id: string, milliseconds: number): string {
  return bill(id, { last_synced_at: iso(milliseconds) });
}

function iso(milliseconds: number): string {
  return `"${new Date(milliseconds).toISOString()}"`;
}
