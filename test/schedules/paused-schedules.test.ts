import { Client, Connection } from '@temporalio/client';
import { expect, test } from 'vitest';
import { pauseConnection } from '../../warehouse/connections/pause-connection.ts';
import { setSchedule } from '../../warehouse/connections/set-schedule.ts';
import { readTemporalFacts } from '../../operations/read-temporal-facts.ts';
import { updateSchedules } from '../../operations/schedules/update-schedules.ts';
import { pausedSchedules, readPausedSchedules } from '../../operations/schedules/paused-schedules.ts';
import { nextSyncAt } from '../../operations/schedules/wanted-schedules.ts';
import { countRequests } from '../fleet/count-requests.ts';
import { eventually } from '../support/eventually.ts';
import { proofTest } from '../support/proof-test.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestNamespace } from '../support/temporal-namespace.ts';

const { warehouse } = await createTestDatabase();
const namespace = await createTestNamespace();
const { client: temporal } = namespace;

const minute = 60_000;

test('a single request finds the pauses made in Temporal, without those made by Daybook', async () => {
  const [paused, pausedHere] = [await scheduled(), await scheduled(), await scheduled()];
  await temporal.schedule.getHandle(`sync/${paused}`).pause('the auditors are here');
  await pauseConnection(warehouse, { connectionId: pausedHere, why: 'month end' });
  await updateSchedules({ warehouse, temporal }, { connectionId: pausedHere });
  const { client, asked } = await countRequests(namespace);
  // Temporal's list lags by a moment.
  await eventually(async () => ((await readPausedSchedules(temporal)).size > 0 ? true : undefined));
  expect([...(await readPausedSchedules(client))]).toEqual([[paused, 'the auditors are here']]);
  expect(Object.fromEntries(asked)).toMatchObject({ ListSchedules: 1 });
  await temporal.schedule.getHandle(`sync/${paused}`).unpause();
});

test('the facts about many schedules take one list request, even if they are read again within seconds', async () => {
  const connections = await Promise.all(Array.from({ length: 12 }, () => scheduled()));
  const { client, asked } = await countRequests(namespace);
  const questions = {
    scheduled: connections.map((name) => ({ name, every_seconds: 900, stretch: 1, failures: 0 })),
    running: new Map(connections.map((name) => [name, `sync/${name}`])),
  };
  for (let times = 0; times < 3; times += 1) {
    const { schedules } = await readTemporalFacts(client, { ...questions, running: new Map() });
    expect(schedules.size).toBe(12);
  }
  expect(asked.get('ListSchedules')).toBe(1);
  expect(asked.get('DescribeSchedule')).toBeUndefined();
});

test('a read of the facts about 400 running workflows describes only 25 of them', async () => {
  const { client, asked } = await countRequests(namespace);
  const names = Array.from({ length: 400 }, (_, index) => `co-${index}`);
  await readTemporalFacts(client, {
    scheduled: [],
    running: new Map(names.map((name) => [name, `sync/${name}`])),
  });
  expect(asked.get('DescribeWorkflowExecution')).toBe(25);
});

test('the computed time of the next run is the one in Temporal, except for the jitter', async () => {
  for (const every of [5 * minute, 15 * minute, 60 * minute, 24 * 60 * minute]) {
    const connection = await scheduled(every);
    const { info } = await temporal.schedule.getHandle(`sync/${connection}`).describe();
    const [first] = info.nextActionTimes;
    if (first === undefined) throw new Error('Temporal does not say when it is next.');
    const computed = nextSyncAt(connection, { every, stretch: 1, failures: 0 }, new Date());
    // Temporal may be about to start a run whose time, without the jitter, has passed.
    const late = (first.getTime() - computed.getTime() + every) % every;
    expect(late).toBeGreaterThanOrEqual(0);
    expect(late).toBeLessThanOrEqual(Math.min(every / 10, 5 * minute));
  }
});

test('the next run of a failing connection follows its longer interval', () => {
  const now = new Date('2026-11-23T12:00:00Z');
  const next = nextSyncAt('acme-us', { every: 15 * minute, stretch: 1, failures: 3 }, now).getTime();
  expect(next).toBeGreaterThan(now.getTime());
  expect(next - now.getTime()).toBeLessThanOrEqual(120 * minute);
  expect(
    nextSyncAt('acme-us', { every: 15 * minute, stretch: 1, failures: 3 }, new Date(next)).getTime() - next,
  ).toBe(120 * minute);
});

proofTest('each read of paused schedules throws while Temporal is unreachable', async () => {
  const connection = Connection.lazy({ address: '127.0.0.1:9', connectTimeout: '200ms' });
  const away = new Client({ connection });
  await expect(pausedSchedules(away)).rejects.toThrow();
  await expect(pausedSchedules(away)).rejects.toThrow();
  await connection.close();
});

async function scheduled(syncEvery = 15 * minute): Promise<string> {
  const connectionId = await addTestConnection(warehouse);
  await setSchedule(warehouse, { connectionId, syncEvery });
  await updateSchedules({ warehouse, temporal }, { connectionId });
  return connectionId;
}
