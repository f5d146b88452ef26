import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { takingLocks } from '../../warehouse/transactions/taking-locks.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { url, adminUrl, warehouse } = await createTestDatabase();
// A session that may set how soon Postgres looks for a deadlock: before its own wait times out.
const ours = await connect(adminUrl);
const theirs = await connect(url);
afterAll(() => Promise.all([ours.end(), theirs.end()]));

test('work that takes locks is retried after a deadlock', async () => {
  await warehouse.pool.query('create table sync.one (); create table sync.other ()');
  await ours.query(`set deadlock_timeout = '50ms'`);
  await theirs.query('begin; lock table sync.other');
  const refusals: unknown[] = [];
  let others: Promise<unknown> = Promise.resolve();
  await takingLocks(ours, { what: 'This' }, async () => {
    await ours.query('lock table sync.one');
    if (refusals.length === 0) {
      others = theirs.query('lock table sync.one; commit');
      await eventually(isWaited);
    }
    await ours.query('lock table sync.other').catch((error: unknown) => {
      refusals.push(error);
      throw error;
    });
  });
  await others;
  expect(refusals).toMatchObject([{ code: '40P01' }]);
});

async function isWaited(): Promise<true | undefined> {
  const { rows } = await warehouse.pool.query<{ waits: boolean }>(
    `select exists (select from pg_locks where not granted and relation = 'sync.one'::regclass) as waits`,
  );
  return rows[0]?.waits === true ? true : undefined;
}

async function connect(of: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: of });
  await client.connect();
  return client;
}
