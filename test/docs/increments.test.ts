import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { bills } from '../../resources/bills.ts';
import { sourceRecord } from '../../resources/source-record.ts';
import { addConnection } from '../../warehouse/connections/add-connection.ts';
import { removeConnection } from '../../warehouse/connections/remove-connection.ts';
import { eraseRecord } from '../../warehouse/erase/erase-record.ts';
import { readHeld } from '../../warehouse/landing/read-held.ts';
import { inTransaction } from '../../warehouse/transactions/in-transaction.ts';
import { landOne } from '../../warehouse/landing/land-fetched.ts';
import { lockResource } from '../../warehouse/passes/lock-pass.ts';
import { addReader } from '../../warehouse/readers/add-reader.ts';
import { applyTombstones } from '../../warehouse/tombstones/apply-tombstones.ts';
import { bill } from '../support/finance-records.ts';
import { begin } from '../support/land.ts';
import { some } from '../support/proof-test.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection, testApiAddress, testKey } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { blocksOf } from './blocks-of.ts';

/** Follows docs/connect/increments.md to the letter, beside writers that commit in any order. */
const blocks = blocksOf(resolve(import.meta.dirname, '../../docs/connect/increments.md'));
const { warehouse, url, adminUrl } = await createTestDatabase();
const logins: string[] = [];
const open: { end: () => unknown }[] = [];

afterAll(async () => {
  await Promise.all(open.map((client) => client.end()));
  const admin = await connectTo(adminUrl);
  for (const login of logins) await admin.query(`drop owned by ${login}; drop role ${login}`);
  await admin.end();
});

describe('a reader who follows the page misses no change', () => {
  test('if the connection that wrote first commits last', async () => {
    const [early, late] = [await addTestConnection(warehouse), await addTestConnection(warehouse)];
    const copy = await copyFor(await readerOf([early, late]));
    const held = await begunLanding(early, 'first');
    await landAt(late, 'second');
    await copy.follow();
    expect(await copy.ids()).toEqual(['second']);
    // With one cursor for all connections, the record would be missed forever.
    const { rows: newest } = await copy.reader.query<{ at: string }>(
      'select max(_changed_at)::text as at from finance.bills',
    );
    await held.commit();
    const after = await copy.reader.query('select id from finance.bills where _changed_at > $1', [
      newest[0]?.at,
    ]);
    expect(after.rows).toEqual([]);
    await copy.follow();
    expect(await copy.ids()).toEqual(['first', 'second']);
  });

  test('because a write waits for the one before it in the same connection', async () => {
    const connectionId = await addTestConnection(warehouse);
    const copy = await copyFor(await readerOf([connectionId]));
    const held = await begunLanding(connectionId, 'first');
    const second = landAt(connectionId, 'second');
    await Promise.race([second, wait(500)]);
    await copy.follow();
    expect(await copy.ids()).toEqual([]);
    await held.commit();
    await second;
    await copy.follow();
    expect(await copy.ids()).toEqual(['first', 'second']);
  });

  test('although the clock of the database was ahead and was set back, even over a removal', async () => {
    const connectionId = await addTestConnection(warehouse);
    const copy = await copyFor(await readerOf([connectionId]));
    const ahead = `update sync.resource_clocks set landed_at = now() + interval '2 hours' where connection_id = $1`;
    await landAt(connectionId, 'before');
    await warehouse.pool.query(ahead, [connectionId]);
    await landAt(connectionId, 'ahead');
    await copy.follow();
    await landAt(connectionId, 'after');
    await copy.follow();
    expect(await copy.ids()).toEqual(['after', 'ahead', 'before']);
    await remove(connectionId);
    await add(connectionId);
    await readerOf([connectionId], copy.name);
    await landAt(connectionId, 'anew');
    await copy.follow();
    expect(await copy.ids()).toEqual(['anew']);
  });

  test.each(
    some([
      ['readers of all', 'all'],
      ['readers of some connections', 'some'],
    ]),
  )(
    'while ten writers insert, change, delete, bring back, remove and add, for %s',
    async (_, who) => {
      const connections = await Promise.all(Array.from({ length: 5 }, () => addTestConnection(warehouse)));
      const seen = who === 'all' ? connections : connections.slice(0, 3);
      const copy = await copyFor(who === 'all' ? await readerOfAll() : await readerOf(seen));
      const writers = { areWriting: true };
      const following = (async () => {
        let rounds = 0;
        for (; writers.areWriting; rounds += 1) await copy.follow();
        return rounds;
      })();
      await Promise.all([...connections, ...connections].map((id, n) => writeAtRandom(id, n)));
      const [last] = connections;
      await remove(last ?? '');
      await add(last ?? '');
      if (who === 'some') await readerOf(seen, copy.name);
      await landAt(last ?? '', 'of the next company');
      writers.areWriting = false;
      expect(await following).toBeGreaterThan(5);
      await copy.follow();
      const held = await rows(
        warehouse,
        `select connection_id, id, total_amount::text as total from finance.bills where connection_id = any($1) order by 1, 2`,
        [seen],
      );
      expect(held.length).toBeGreaterThan(20);
      expect((await copy.held()).filter((one) => connections.includes(String(one.connection_id)))).toEqual(
        held,
      );
      // And nothing is read twice.
      expect(await copy.follow()).toBe(0);
    },
    120_000,
  );
});

describe('a copy that has read changes lost in a failover or a restore is right again after its next read', () => {
  /** One login for all tests, because tests of other files drop theirs at the same time. */
  const reader = 'reader-after-a-failover';

  test.each([
    ['before anything else lands', false],
    ['after something else has landed', true],
  ])('%s', async (_, hasLanded) => {
    const [connectionId, other] = [await addTestConnection(warehouse), await addTestConnection(warehouse)];
    const copy = await copyFor(await readerOf([connectionId, other], reader));
    await landAt(connectionId, 'changed');
    await landAt(connectionId, 'deleted');
    await landAt(other, 'other');
    await copy.follow();
    await losing(connectionId, async () => {
      await landAt(connectionId, 'changed');
      await landAt(connectionId, 'never');
      await deleteAt(connectionId, 'deleted');
      await copy.follow();
      expect(await copy.ids()).toEqual(['changed', 'never', 'other']);
    });
    if (hasLanded) await landAt(connectionId, 'later');
    // Nothing of the other connection is read again: only the clear, and the held records of this one.
    expect(await copy.follow()).toBe(hasLanded ? 4 : 3);
    expect(await copy.held()).toEqual(await heldOf([connectionId, other]));
    expect(await copy.ids()).toEqual(['changed', 'deleted', ...(hasLanded ? ['later', 'other'] : ['other'])]);
    expect(await copy.follow()).toBe(0);
  });

  test('although the clock of the lost server was ahead', async () => {
    const connectionId = await addTestConnection(warehouse);
    const copy = await copyFor(await readerOf([connectionId], reader));
    await landAt(connectionId, 'first');
    await losing(connectionId, async () => {
      await warehouse.pool.query(
        `update sync.resource_clocks set landed_at = now() + interval '2 hours' where connection_id = $1`,
        [connectionId],
      );
      await landAt(connectionId, 'never');
      await copy.follow();
    });
    await landAt(connectionId, 'second');
    await copy.follow();
    expect(await copy.ids()).toEqual(['first', 'second']);
    await landAt(connectionId, 'third');
    expect(await copy.follow()).toBe(1);
    expect(await copy.ids()).toEqual(['first', 'second', 'third']);
  });

  test('even if nothing is left of the connection', async () => {
    const connectionId = await addTestConnection(warehouse);
    const copy = await copyFor(await readerOf([connectionId], reader));
    await losing(connectionId, async () => {
      await landAt(connectionId, 'never');
      await copy.follow();
    });
    await copy.follow();
    expect(await copy.ids()).toEqual([]);
    expect(await copy.follow()).toBe(0);
    await landAt(connectionId, 'first');
    await copy.follow();
    expect(await copy.ids()).toEqual(['first']);
  });

  test('without reading records again that have changed, were deleted, or lived again since', async () => {
    const connectionId = await addTestConnection(warehouse);
    const copy = await copyFor(await readerOf([connectionId], reader));
    await landAt(connectionId, 'kept');
    for (const step of [landAt, landAt, deleteAt, landAt, deleteAt]) {
      await step(connectionId, 'moving');
      await copy.follow();
      await step(connectionId, 'moving');
      expect(await copy.follow()).toBeLessThanOrEqual(1);
    }
    expect(await copy.held()).toEqual(await heldOf([connectionId]));
  });
});

test('an erased record leaves the copy too', async () => {
  const connectionId = await addTestConnection(warehouse);
  const copy = await copyFor(await readerOf([connectionId]));
  await landAt(connectionId, 'person');
  await copy.follow();
  const erased = { connectionId, resource: bills, id: 'person' };
  const heldBefore = await readHeld(warehouse.pool, erased);
  const runId = await runOf(connectionId);
  await eraseRecord(warehouse, { ...erased, runId, goneAt: new Date(), heldBefore });
  await copy.follow();
  expect(await copy.ids()).toEqual([]);
});

test('an unknown resource, or a place that is not an object, is rejected in a sentence', async () => {
  const { reader } = await readerOfAll();
  for (const name of ['nothing', 'bill_lines', 'bills; drop', '../bills'])
    await expect(reader.query('select * from history.changed_since($1)', [name])).rejects.toThrow(
      /^There is no resource /,
    );
  await expect(reader.query(`select * from history.changed_since('bills', '[]')`)).rejects.toThrow(
    /^since takes an object/,
  );
});

test('unchanged rows are not read: changed_since uses index lookups alone', async () => {
  await warehouse.pool.query(`
    insert into finance.customers (connection_id, id, _run_id, _first_seen_at, _changed_at, _content_hash)
    select 'many-' || n % 200, n, '', now(), now(), '' from generate_series(1, 20000) n;
    analyze finance.customers`);
  const { rows: since } = await warehouse.pool.query<{ since: unknown }>(
    `select jsonb_object_agg(connection_id, at) as since
     from (select connection_id, max(_changed_at) as at from finance.customers group by 1) latest`,
  );
  // A session of its own, because the counts are per session.
  const client = await connectTo(url);
  open.push(client);
  await client.query('begin');
  const asked = `select from history.changed_since('customers', $1)`;
  expect((await client.query(asked, [since[0]?.since])).rowCount).toBe(0);
  const { rows: read } = await client.query(
    `select seq_scan::int, idx_tup_fetch::int < 1000 as few from pg_stat_xact_user_tables
     where relid = 'finance.customers'::regclass`,
  );
  expect(read).toEqual([{ seq_scan: 0, few: true }]);
});

/** Loses the changes to bills of the connection made during `work`, as when a standby without them takes over. */
async function losing(connectionId: string, work: () => Promise<void>): Promise<void> {
  const tables = [
    ...['finance.bills', 'finance.bill_lines', 'history.record_versions'],
    ...['sync.tombstones', 'sync.resource_clocks'],
  ];
  const saved = new Map<string, string>();
  for (const table of tables) {
    const [found] = await rows(
      warehouse,
      `select coalesce(jsonb_agg(to_jsonb(t)), '[]')::text as all from ${table} t where connection_id = $1`,
      [connectionId],
    );
    saved.set(table, String(found?.all));
  }
  await work();
  for (const [table, all] of saved) {
    await warehouse.pool.query(`delete from ${table} where connection_id = $1`, [connectionId]);
    await warehouse.pool.query(
      `insert into ${table} select * from jsonb_populate_recordset(null::${table}, $1::jsonb)`,
      [all],
    );
  }
}

function heldOf(connections: readonly string[]): Promise<Record<string, unknown>[]> {
  return rows(
    warehouse,
    `select connection_id, id, total_amount::text as total from finance.bills where connection_id = any($1) order by 1, 2`,
    [connections],
  );
}

interface Reader {
  readonly name: string;
  readonly reader: pg.Client;
}

/** A copy in a schema of another database, kept by the statements of the page. */
async function copyFor({ name, reader }: Reader): Promise<
  Reader & {
    follow: () => Promise<number>;
    held: () => Promise<Record<string, unknown>[]>;
    ids: () => Promise<unknown[]>;
  }
> {
  const schema = `copy_${Math.random().toString(36).slice(2, 8)}`;
  const mine = await connectTo(url);
  open.push(mine);
  await mine.query(`create schema ${schema}; set search_path = ${schema}`);
  for (const text of statements('copy')) await mine.query(text);
  const held = async (): Promise<Record<string, unknown>[]> =>
    (
      await mine.query<Record<string, unknown>>(
        'select connection_id, id, total_amount::text as total from bills order by 1, 2',
      )
    ).rows;
  return {
    name,
    reader,
    held,
    ids: async () => (await held()).map(({ id }) => String(id)).sort(),
    async follow() {
      const [since = ''] = statements('since');
      const [ask = ''] = statements('warehouse');
      const { rows: at } = await mine.query<{ since: unknown }>(since);
      const { rows: changes } = await reader.query<object>(ask, [at[0]?.since]);
      await mine.query('begin');
      for (const text of statements('apply')) await mine.query(text, [JSON.stringify(changes)]);
      await mine.query('commit');
      return changes.length;
    },
  };
}

function statements(note: string): string[] {
  const found = blocks.filter((block) => block.language === 'sql' && block.note === note);
  expect(found.length, note).toBeGreaterThan(0);
  return found.map(({ text }) => text);
}

async function readerOfAll(): Promise<Reader> {
  const reader = await connectTo(url);
  await reader.query('set role daybook_reader');
  open.push(reader);
  return { name: '', reader };
}

async function readerOf(
  connections: string[],
  name = `reader-${Math.random().toString(36).slice(2)}`,
): Promise<Reader> {
  const added = await addReader(warehouse, { reader: name, connections, databaseUrl: url });
  if (!logins.includes(added.url.username)) logins.push(added.url.username);
  const reader = await connectTo(added.url.href);
  open.push(reader);
  return { name, reader };
}

/** Versions increase, so that the newest wins. */
let version = Date.parse('2024-02-01T00:00:00Z');

function nextVersion(): string {
  version += 1_000;
  return new Date(version).toISOString();
}

/** Begins to land a record, and commits it when `commit` is called. */
async function begunLanding(connectionId: string, id: string): Promise<{ commit: () => Promise<void> }> {
  let commit: () => void = () => undefined;
  let landed: () => void = () => undefined;
  const called = new Promise<void>((done) => (commit = done));
  const isLanded = new Promise<void>((done) => (landed = done));
  const runId = await runOf(connectionId);
  const whole = inTransaction(warehouse.pool, async ({ client }) => {
    const { landedAt } = await lockResource(client, { connectionId, resource: 'bills', runId });
    const record = sourceRecord(
      bill(id, { last_synced_at: `"${nextVersion()}"`, total_amount: String(version) }),
    );
    await landOne(client, { connectionId, resource: bills, runId, landedAt, record });
    landed();
    await called;
  });
  await Promise.race([isLanded, whole]);
  // A failed test must not leave a transaction behind that everything else would wait for.
  open.push({ end: commit });
  return {
    commit: async () => {
      commit();
      await whole;
    },
  };
}

async function landAt(connectionId: string, id: string): Promise<void> {
  await (await begunLanding(connectionId, id)).commit();
}

async function writeAtRandom(connectionId: string, writer: number): Promise<void> {
  for (let step = 0; step < 25; step += 1) {
    const id = `${writer}-${Math.floor(Math.random() * 18)}`;
    if (Math.random() < 0.25) await deleteAt(connectionId, id);
    else {
      const landing = await begunLanding(connectionId, id);
      await wait(Math.random() * 40);
      await landing.commit();
    }
  }
}

async function deleteAt(connectionId: string, id: string): Promise<void> {
  const runId = await runOf(connectionId);
  await inTransaction(warehouse.pool, async ({ client }) => {
    const { landedAt } = await lockResource(client, { connectionId, resource: 'bills', runId });
    const where = { connectionId, resource: bills, runId, landedAt };
    const deletions = [{ id, version: nextVersion(), deletedAt: null }];
    await applyTombstones(client, { ...where, source: 'event', deletions });
    await wait(Math.random() * 40);
  });
}

/** The run that writes. Each connection has one, because beginning another would wait for the writes under way. */
async function runOf(connectionId: string): Promise<string> {
  const begun = await rows(warehouse, 'select run_id from sync.runs where connection_id = $1 limit 1', [
    connectionId,
  ]);
  if (begun[0] !== undefined) return String(begun[0].run_id);
  const runId = randomUUID();
  await begin(warehouse, { connectionId, runId });
  return runId;
}

function remove(connectionId: string): Promise<unknown> {
  return removeConnection(warehouse, { connectionId, keepData: false });
}

function add(connectionId: string): Promise<unknown> {
  return addConnection(warehouse, testKey, {
    connectionId,
    apiAddress: testApiAddress,
    token: `token of ${connectionId}`,
    expandPlatformData: false,
  });
}

async function connectTo(of: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: of });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}
