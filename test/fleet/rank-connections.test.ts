import { beforeEach, expect, test } from 'vitest';
import { rankConnections, type ConnectionFilter } from '../../warehouse/connections/rank-connections.ts';
import { addEntry, addRun, failSync } from '../alerts/facts.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { addFleet } from './add-fleet.ts';

const { warehouse } = await createTestDatabase();
const { pool } = warehouse;

beforeEach(async () => {
  await pool.query(
    'truncate sync.all_connections, sync.streams, sync.runs, sync.run_streams, sync.alerts, sync.quarantine cascade',
  );
});

test('connections that need a person come first, then the others, each by name', async () => {
  await addFleet(warehouse, { connections: 12 });
  await failSync(warehouse, 'co-00011', 'It failed.');
  await failSync(warehouse, 'co-00003', 'It was refused.', { pauseWhy: 'Set a token.' });
  await makeStale('co-00007');
  await pool.query(
    `insert into sync.alerts (kind, connection_id, message, remedy) values ('quarantine', 'co-00009', 'm', 'r'), ('export', null, 'm', 'r')`,
  );
  await pauseAsPerson('co-00001');
  await addEntry(warehouse, { connection: 'co-00002', resource: 'bills', hoursAgo: 48 });
  await addRun(warehouse, { connection: 'co-00004', status: 'running' });
  const { names, connections, matching, counts } = await rank({ limit: 6 });
  expect(names).toEqual(['co-00003', 'co-00007', 'co-00009', 'co-00011', 'co-00000', 'co-00001']);
  expect({ connections, matching }).toEqual({ connections: 12, matching: 12 });
  expect(counts).toEqual({ 'needs you': 4, failing: 2, stale: 1, paused: 2, quarantine: 1, running: 1 });
});

test('pages follow one another without gaps or duplicates', async () => {
  const fleet = await addFleet(warehouse, { connections: 25 });
  await makeStale('co-00020');
  const pages = await Promise.all([0, 10, 20, 30].map((offset) => rank({ limit: 10, offset })));
  const names = pages.flatMap((page) => page.names);
  expect(names[0]).toBe('co-00020');
  expect([...names].sort()).toEqual(fleet);
});

test.each<[ConnectionFilter, string[]]>([
  ['needs you', ['co-00001', 'co-00002']],
  ['failing', ['co-00001']],
  ['stale', ['co-00002']],
  ['paused', ['co-00003']],
  ['quarantine', ['co-00004']],
  ['running', ['co-00005']],
])('the filter "%s" keeps matching connections only', async (filter, expected) => {
  await addFleet(warehouse, { connections: 7 });
  await failSync(warehouse, 'co-00001', 'It failed.');
  await makeStale('co-00002');
  await pauseAsPerson('co-00003');
  await addEntry(warehouse, { connection: 'co-00004', resource: 'bills', hoursAgo: 48 });
  await addRun(warehouse, { connection: 'co-00005', status: 'running' });
  const { names, matching, connections } = await rank({ filter, limit: 10 });
  expect(names).toEqual(expected);
  expect({ matching, connections }).toEqual({ matching: expected.length, connections: 7 });
});

test('a search matches a literal part of the name, and narrows a filter', async () => {
  await addFleet(warehouse, { connections: 30 });
  await makeStale('co-00012');
  expect((await rank({ search: 'o-0001', limit: 100 })).matching).toBe(10);
  expect((await rank({ search: 'o-0001', filter: 'stale', limit: 100 })).names).toEqual(['co-00012']);
  expect((await rank({ search: 'co_000', limit: 100 })).names).toEqual([]);
  expect((await rank({ search: '%', limit: 100 })).names).toEqual([]);
});

test('a connection paused in Temporal is paused and not stale', async () => {
  await addFleet(warehouse, { connections: 3 });
  await makeStale('co-00001');
  const { counts, names } = await rank({ limit: 1, pausedElsewhere: ['co-00001', 'of-nobody'] });
  expect(counts).toMatchObject({ stale: 0, paused: 1, 'needs you': 0 });
  expect(names).toEqual(['co-00000']);
});

test('an empty fleet has nothing to rank', async () => {
  expect(await rank({ limit: 10 })).toMatchObject({ names: [], matching: 0, connections: 0 });
});

function rank(
  input: Partial<Parameters<typeof rankConnections>[1]> & { limit: number },
): ReturnType<typeof rankConnections> {
  return rankConnections(warehouse, { pausedElsewhere: [], ...input });
}

async function makeStale(connection: string): Promise<void> {
  await pool.query(
    `update sync.streams set last_success_at = now() - interval '40 minutes' where connection_id = $1 and stream = 'bills'`,
    [connection],
  );
}

async function pauseAsPerson(connection: string): Promise<void> {
  await pool.query(
    `update sync.connections set paused_at = now(), paused_why = 'month end', paused_by = 'person' where connection_id = $1`,
    [connection],
  );
}
