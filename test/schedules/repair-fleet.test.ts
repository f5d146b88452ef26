import { pino } from 'pino';
import { beforeEach, expect, test } from 'vitest';
import { pauseConnection } from '../../warehouse/connections/pause-connection.ts';
import { takeRepairTurn } from '../../warehouse/connections/repair-turn.ts';
import { readClock } from '../../warehouse/clock/read-clock.ts';
import { updateSchedules } from '../../operations/schedules/update-schedules.ts';
import { repairSchedules } from '../../worker/schedules/repair-schedules.ts';
import { addFleet } from '../fleet/add-fleet.ts';
import { countRequests } from '../fleet/count-requests.ts';
import { proofTest } from '../support/proof-test.ts';
import { rows } from '../support/rows.ts';
import { testApiAddress } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestNamespace } from '../support/temporal-namespace.ts';

const { warehouse } = await createTestDatabase();
const { pool } = warehouse;
const namespace = await createTestNamespace();
const { client: temporal, asked } = await countRequests(namespace);
const places = { warehouse, temporal, apiAddress: testApiAddress, requestsPer10s: 450 };

beforeEach(async () => {
  await pool.query('delete from sync.connections');
  await repair();
  asked.clear();
});

test('a repair creates the schedules of a fleet, and describes only some of those that look right, others each time', async () => {
  await addFleet(warehouse, { connections: 120 });
  expect(await repair()).toBe('');
  expect(asked.get('CreateSchedule')).toBe(240);
  expect(asked.get('DescribeSchedule')).toBeUndefined();
  const [counts] = await rows(
    warehouse,
    'select count(*) as connections, count(distinct schedules_settled) as told, count(schedules_checked_at) as checked from sync.connections',
  );
  expect(counts).toMatchObject({ connections: 120, told: 120, checked: 120 });

  await expect.poll(countListed, { timeout: 10_000 }).toBe(240);
  // Schedules of an earlier release look as wanted. That is recorded, and they are not described one by one.
  await pool.query('update sync.connections set schedules_settled = null, schedules_checked_at = null');
  asked.clear();
  expect(await repair()).toBe('');
  expect(asked.get('DescribeSchedule')).toBe(100);
  expect(asked.get('CreateSchedule')).toBeUndefined();
  expect(asked.get('UpdateSchedule')).toBeUndefined();
  expect(await rows(warehouse, 'select from sync.connections where schedules_settled is null')).toEqual([]);

  // The next repair describes others.
  expect(await repair()).toBe('');
  const unchecked = await rows(warehouse, 'select from sync.connections where schedules_checked_at is null');
  expect(unchecked.length).toBe(20);
});

proofTest('a repair applies changes in the database that have not reached Temporal', async () => {
  await addFleet(warehouse, { connections: 3 });
  await repair();
  await pool.query(
    `update sync.connections set sync_every = interval '1 hour' where connection_id = 'co-00001'`,
  );
  await pauseConnection(warehouse, { connectionId: 'co-00002', why: 'month end' });
  await repair();
  expect((await describe('sync/co-00001')).spec.intervals?.[0]?.every).toBe(3_600_000);
  expect((await describe('sync/co-00002')).state.note).toBe('Paused by Daybook: month end');
  const [{ reached } = {}] = await rows(
    warehouse,
    `select pause_reached_schedules as reached from sync.connections where connection_id = 'co-00002'`,
  );
  expect(reached).toBe(true);
});

proofTest(
  'six workers that start at the same time create each schedule once, with at most two repairs',
  async () => {
    await addFleet(warehouse, { connections: 20 });
    await Promise.all([repair(), repair(), repair(), repair(), repair(), repair()]);
    expect(asked.get('CreateSchedule')).toBe(40);
    expect(asked.get('ListSchedules')).toBeLessThanOrEqual(2);
  },
);

proofTest(
  'a repair asks Temporal nothing within an hour of the last one, unless a worker starts',
  async () => {
    await addFleet(warehouse, { connections: 2 });
    await repair();
    asked.clear();
    await repair('hour');
    expect(asked.size).toBe(0);
    await repair('start');
    expect(asked.get('ListSchedules')).toBe(1);
    await anHourLater();
    await repair('hour');
    expect(asked.get('ListSchedules')).toBe(2);
  },
);

proofTest(
  'a repair turn that has expired goes to another worker, and its first holder can neither extend nor end it',
  async () => {
    const now = await readClock(warehouse);
    const turn = await takeRepairTurn(warehouse, { since: now });
    if (typeof turn === 'string') throw new Error(`The turn is ${turn}.`);
    expect(await takeRepairTurn(warehouse, { since: now })).toBe('held');
    expect(await turn.extend()).toBe(true);
    await pool.query(
      `update sync.settings set value = (clock_timestamp() - interval '1 second')::text where name = 'schedules_repair_until'`,
    );
    const other = await takeRepairTurn(warehouse, { since: now });
    if (typeof other === 'string') throw new Error(`The turn is ${other}.`);
    expect(await turn.extend()).toBe(false);
    await turn.end({ done: true });
    expect(await takeRepairTurn(warehouse, { since: now })).toBe('held');
    await other.end({ done: true });
    expect(await takeRepairTurn(warehouse, { since: now })).toBe('done');
  },
);

proofTest('a repair time in the future, from a wrong clock, keeps no worker from repairing', async () => {
  const now = await readClock(warehouse);
  await pool.query(
    `update sync.settings set value = (clock_timestamp() + interval '1 day')::text where name like 'schedules_repair%'`,
  );
  const turn = await takeRepairTurn(warehouse, { since: now });
  if (typeof turn === 'string') throw new Error(`The turn is ${turn}.`);
  await turn.end({ done: true });
  expect(await takeRepairTurn(warehouse, { since: now })).toBe('done');
});

proofTest('a repair continues after failures, counts them, and does not count as done', async () => {
  await addFleet(warehouse, { connections: 60 });
  // Temporal refuses such a short interval.
  await pool.query(
    `update sync.connections set sync_every = interval '10 milliseconds' where connection_id in ('co-00003', 'co-00040')`,
  );
  const logged = await repair();
  expect(logged.trim().split('\n').length).toBe(1);
  expect(JSON.parse(logged)).toMatchObject({ connections: 60, failed: 2, foreign: 0 });
  expect(logged).toContain('they are repaired when a worker starts, and once an hour');
  expect(await describe('sync/co-00059')).toBeDefined();
  await pool.query(`update sync.connections set sync_every = interval '1 hour'`);
  await repair('hour');
  expect((await describe('sync/co-00003')).spec.intervals?.[0]?.every).toBe(3_600_000);
});

test('a pause made in the Web UI survives a repair of its schedule', async () => {
  await addFleet(warehouse, { connections: 2 });
  await repair();
  await temporal.schedule.getHandle('sync/co-00001').pause('the auditors are here');
  await pool.query(`update sync.connections set sync_every = interval '1 hour'`);
  await repair();
  const { state, spec } = await describe('sync/co-00001');
  expect(state).toMatchObject({ paused: true, note: 'the auditors are here' });
  expect(spec.intervals?.[0]?.every).toBe(3_600_000);
});

proofTest('a schedule that was resumed in the Web UI stays resumed until a worker starts', async () => {
  await addFleet(warehouse, { connections: 1 });
  await pauseConnection(warehouse, { connectionId: 'co-00000', why: 'month end' });
  await repair();
  await temporal.schedule.getHandle('reconcile/co-00000').unpause('go on');
  await anHourLater();
  await listedAs('reconcile/co-00000', { paused: false });
  await repair('hour');
  expect((await describe('reconcile/co-00000')).state.paused).toBe(false);
  await repair('start');
  expect((await describe('reconcile/co-00000')).state.paused).toBe(true);
});

proofTest('a repair reverts a change of a setting that Temporal does not list', async () => {
  await addFleet(warehouse, { connections: 2 });
  await repair();
  await temporal.schedule
    .getHandle('sync/co-00000')
    .update((now) => ({ ...now, policies: { ...now.policies, pauseOnFailure: true } }));
  await repair();
  expect((await describe('sync/co-00000')).policies.pauseOnFailure).toBe(false);
});

proofTest(
  'a repair ends early when its worker is stopped, and leaves its turn to another worker',
  async () => {
    await addFleet(warehouse, { connections: 60 });
    const stopping = new AbortController();
    const repairing = repairSchedules(places, {
      logger: pino({ level: 'silent' }),
      stopping: stopping.signal,
    });
    stopping.abort();
    expect(await repairing).toBe(false);
    await repair();
    expect(await describe('sync/co-00059')).toBeDefined();
  },
);

proofTest('a connection whose schedules are already right is not written again', async () => {
  await addFleet(warehouse, { connections: 1 });
  await repair();
  const version = async (): Promise<unknown> =>
    (await rows(warehouse, 'select xmin::text as xmin from sync.all_connections'))[0]?.xmin;
  const before = await version();
  await updateSchedules(places, { connectionId: 'co-00000' });
  await repair();
  expect(await version()).toBe(before);
});

/** Repairs the schedules, and returns the log. */
async function repair(occasion: 'start' | 'hour' = 'start'): Promise<string> {
  const logged: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) });
  await repairSchedules(places, { logger, stopping: new AbortController().signal, occasion });
  return logged.join('');
}

async function anHourLater(): Promise<void> {
  await pool.query(
    `update sync.settings set value = (value::timestamptz - interval '1 hour')::text where name = 'schedules_repaired_at'`,
  );
}

function describe(id: string): ReturnType<ReturnType<typeof temporal.schedule.getHandle>['describe']> {
  return temporal.schedule.getHandle(id).describe();
}

async function countListed(): Promise<number> {
  let count = 0;
  for await (const { memo } of temporal.schedule.list()) if (memo?.connection !== undefined) count += 1;
  return count;
}

/** Waits until Temporal's list, which lags by a moment, shows this state. */
async function listedAs(id: string, expected: { paused: boolean }): Promise<void> {
  await expect
    .poll(
      async () => {
        for await (const { scheduleId, state } of temporal.schedule.list())
          if (scheduleId === id) return state.paused;
        return undefined;
      },
      { timeout: 10_000 },
    )
    .toBe(expected.paused);
}
