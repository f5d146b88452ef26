import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addReader } from '../../warehouse/readers/add-reader.ts';
import { bill, customer, expense, item, subscription } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { buildEnvironment } from './build-environment.ts';
import { martNames } from './marts-of.ts';

/** Two companies with the same records, the marts of both, and a reader of one of them. */
const { warehouse, url, adminUrl } = await createTestDatabase();
const { build } = await buildEnvironment({ databaseUrl: url, lake: 'none' });
let company: string;
let reader: pg.Client;

beforeAll(async () => {
  company = await addTestConnection(warehouse);
  for (const connectionId of [company, await addTestConnection(warehouse)])
    for (const [stream, record] of Object.entries(records))
      await land(warehouse, { connectionId, stream, pages: [[record]] });
  await buildMarts();
  const { url: login } = await addReader(warehouse, {
    reader: 'one',
    connections: [company],
    databaseUrl: url,
  });
  reader = new pg.Client(login.href);
  await reader.connect();
});

afterAll(async () => {
  const { user } = reader;
  await reader.end();
  const admin = new pg.Client(adminUrl);
  await admin.connect();
  await admin.query(`drop owned by ${user ?? ''}; drop role ${user ?? ''}`);
  await admin.end();
});

const records = {
  bills: bill('b'),
  expenses: expense('e'),
  customers: customer('c'),
  items: item('i'),
  subscriptions: subscription('s'),
};

test('a reader of one connection sees only its rows, in every mart of every build', async () => {
  await onlyOwn();
  await buildMarts();
  await onlyOwn();
});

async function onlyOwn(): Promise<void> {
  const names = await martNames();
  const seen = new Map<string, string[]>();
  for (const mart of names.filter((name) => name !== 'dates')) {
    const { rows } = await reader.query<{ id: string }>(
      `select distinct connection_id as id from marts.${mart}`,
    );
    seen.set(
      mart,
      rows.map(({ id }) => id),
    );
  }
  for (const [mart, connections] of seen)
    expect(
      connections.filter((id) => id !== company),
      mart,
    ).toEqual([]);
  expect(seen.get('bills')).toEqual([company]);
  expect([...seen.values()].filter((connections) => connections.length === 1).length).toBeGreaterThan(12);
  expect((await reader.query('select from marts.dates limit 1')).rowCount).toBe(1);
}

async function buildMarts(): Promise<void> {
  const built = await build('postgres');
  expect(built.code, built.stderr).toBe(0);
}
