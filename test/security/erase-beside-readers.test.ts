import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { eraseEverywhere, type Erased } from '../../operations/erase-everywhere.ts';
import { bills } from '../../resources/bills.ts';
import { holdLock, type HeldLock } from '../../warehouse/transactions/hold-lock.ts';
import { hiddenSchema } from '../../warehouse/marts/prepare-schemas.ts';
import { settingsOf } from '../console/open-console.ts';
import { createTestLake } from '../lake/create-test-lake.ts';
import { startDaybook, type DaybookProcess } from '../support/daybook-process.ts';
import { bill } from '../support/finance-records.ts';
import { createInstallation } from '../support/installation.ts';
import { land } from '../support/land.ts';
import { startLockHolder } from '../support/lock-holder.ts';
import { proofTest } from '../support/proof-test.ts';
import { row } from '../support/rows.ts';

const installation = await createInstallation();
const { connect, run, warehouse, databaseUrl, cwd, env } = installation;
const lake = join(cwd, 'home', 'lake');
const { exportNow } = await createTestLake(databaseUrl, { lake });
let connection: string;
let records = 0;
let id: string;
let snapshot: string;

beforeAll(async () => {
  connection = await connect();
  await warehouse.pool.query(
    `insert into sync.marts (target, run_id, as_of_date, marts, begun_at) values ('postgres', 'built', '2026-01-01', 24, now())`,
  );
});

beforeEach(async () => {
  records += 1;
  id = `to-erase-${records}`;
  // The source has never had the record, so it may be erased.
  const page = [bill(id, { memo: '"planted"' }), bill('stays')];
  await land(warehouse, { connectionId: connection, stream: 'bills', pages: [page] });
  snapshot = (await exportNow()).snapshotId;
});

test('an erasure that waits for marts in Postgres blocks no export or other erasure, and can be rerun after a kill', async () => {
  const build = await holdPostgresMarts();
  const [first, second] = [startErasure(), startErasure()];
  for (const erasure of [first, second]) await erasure.waitForOutput(/waiting for a running export or build/);
  for (const erasure of [first, second]) await erasure.waitForOutput(/the lake was searched/);
  expect(await readdir(join(lake, 'snapshots'))).not.toContain(snapshot);
  expect((await exportNow({ force: true })).skipped).toBe(false);
  await Promise.all([first.stop('SIGKILL'), second.stop('SIGKILL')]);
  await build.letGo();

  await warehouse.pool.query(`delete from sync.marts where target = 'postgres'`);
  onTestFinished(async () => {
    await warehouse.pool.query(
      `insert into sync.marts (target, run_id, as_of_date, marts, begun_at) values ('postgres', 'built', '2026-01-01', 24, now())`,
    );
  });
  const { code, stderr } = await run(['erase', connection, 'bills', id]);
  expect([code, stderr]).toEqual([0, expect.anything()]);
});

proofTest(
  'an erasure that waited for the first build of the marts rebuilds them without the record',
  async () => {
    await withoutMarts();
    const build = await holdPostgresMarts();
    let built: Promise<unknown> | undefined;
    const { kept } = await eraseHere({
      timeoutMilliseconds: 10_000,
      onStep: (text) => {
        if (!text.startsWith('waiting for a running export or build') || built !== undefined) return;
        built = (async () => {
          await noteMarts();
          await readHiddenMarts();
          await build.letGo();
        })();
      },
    });
    await built;
    expect(kept).toContainEqual(expect.stringMatching(/^Building the marts could not go on/));
  },
);

test('an erasure rebuilds marts in Postgres that readers see even if no build is recorded', async () => {
  await withoutMarts();
  await warehouse.pool.query(`
    create schema if not exists marts_a; comment on schema marts_a is 'Daybook: marts';
    create table if not exists marts_a.bills as select * from finance.bills;
    insert into sync.settings values ('marts_schema', 'marts_a')`);
  onTestFinished(async () => {
    await warehouse.pool.query(`delete from sync.settings where name = 'marts_schema'`);
  });
  await readHiddenMarts();
  const { kept } = await eraseHere();
  expect(kept).toContainEqual(expect.stringMatching(/^Building the marts could not go on/));
});

test('a foreign schema in the place of the next marts stays and is reported once, and everything else is erased', async () => {
  const hidden = await hiddenSchema(warehouse.pool);
  await warehouse.pool.query(`drop schema if exists ${hidden} cascade; create schema ${hidden};
    create table ${hidden}.mine as select 1 as kept`);
  onTestFinished(async () => {
    await warehouse.pool.query(`drop schema ${hidden} cascade`);
  });
  const { kept, snapshots } = await eraseHere();
  expect(kept).toEqual([expect.stringMatching(`^The database has ${hidden}, which Daybook did not make`)]);
  expect(snapshots).toMatchObject([{ from: snapshot, isKept: false }]);
  expect(await row(warehouse, `select kept from ${hidden}.mine`)).toEqual({ kept: 1 });
  expect(await statusOfErasure()).toBe('failed');
});

test('a build of the marts that does not end is reported, and everything else is erased', async () => {
  const build = await holdPostgresMarts();
  const { kept, snapshots, marts } = await eraseHere();
  await build.letGo();
  expect(kept).toEqual([
    expect.stringMatching(/^The marts in Postgres were not rebuilt: .* did not finish in time\./),
    expect.stringMatching(/^What builds in Postgres have left was not dropped: .* did not finish in time\./),
  ]);
  expect(snapshots).toMatchObject([{ from: snapshot, isKept: false }]);
  expect(marts).toEqual([]);
  expect(await statusOfErasure()).toBe('failed');
});

test('a reader whose transaction does not end is reported by name, and everything else is erased', async () => {
  await warehouse.pool.query(`
    create schema if not exists marts_a; comment on schema marts_a is 'Daybook: marts';
    create table if not exists marts_a.bills as select * from finance.bills;
    create or replace view marts.bills as select * from marts_a.bills;
    grant select on marts.bills to daybook_reader`);
  const { stdout } = await run(['url']);
  const reader = new pg.Client({ connectionString: stdout.trim(), application_name: 'Tableau' });
  await reader.connect();
  onTestFinished(() => reader.end());
  await reader.query('begin; select count(*) from marts.bills');
  const { kept, snapshots, marts } = await eraseHere();
  expect(kept).toEqual([
    expect.stringMatching(
      /^Building the marts could not go on: daybook_bi_\w+ \(session \d+, Tableau\) reads marts\.bills/,
    ),
    expect.stringMatching(/^Dropping earlier marts could not go on: daybook_bi_\w+/),
  ]);
  expect(snapshots).toMatchObject([{ from: snapshot, isKept: false }]);
  expect(await readdir(join(lake, 'snapshots'))).not.toContain(snapshot);
  expect(marts).toEqual([]);
  expect(await statusOfErasure()).toBe('failed');
});

test('an export that does not end is reported, and the tables no longer hold the record', async () => {
  const holder = startLockHolder('export', databaseUrl);
  expect(await holder.nextLine()).toBe('held');
  await holdPostgresMarts();
  const { kept, snapshots, left } = await eraseHere();
  expect(kept[0]).toMatch(
    /^The snapshots and the marts on the lake were not searched: .* did not finish in time\./,
  );
  expect(snapshots).toEqual([]);
  expect(Object.values(left).every((count) => count === 0)).toBe(true);
  expect(await statusOfErasure()).toBe('failed');
});

test('a record that the source returns again while the erasure waits for an export is reported', async () => {
  const holder = startLockHolder('export', databaseUrl);
  expect(await holder.nextLine()).toBe('held');
  await holdPostgresMarts();
  let shownAgain: Promise<unknown> | undefined;
  const { kept, left } = await eraseHere({
    timeoutMilliseconds: 5_000,
    onStep: (text) => {
      if (text !== 'the tables no longer hold it') return;
      const again = bill(id, { last_synced_at: '"2040-01-01T00:00:00Z"' });
      shownAgain = land(warehouse, {
        connectionId: connection,
        stream: 'bills',
        pages: [[again]],
      }).then(() => {
        holder.signal('SIGKILL');
      });
    },
  });
  await shownAgain;
  expect(left).toMatchObject({ 'finance.bills': 1 });
  expect(kept).toContainEqual(
    expect.stringMatching(/^The tables hold it again, because the source returned it/),
  );
  expect(kept).not.toContainEqual(expect.stringContaining('the marts on the lake were not searched'));
  expect(await statusOfErasure()).toBe('failed');
});

/** Sets the state before the first build. */
async function withoutMarts(): Promise<void> {
  await warehouse.pool.query(`delete from sync.marts where target = 'postgres'`);
  onTestFinished(async () => {
    await warehouse.pool.query(`delete from sync.marts where target = 'postgres'`);
    await noteMarts();
  });
}

async function noteMarts(): Promise<void> {
  await warehouse.pool.query(
    `insert into sync.marts (target, run_id, as_of_date, marts, begun_at) values ('postgres', 'built', '2026-01-01', 24, now())`,
  );
}

/** Opens a transaction that blocks the next build, and nothing before it. */
async function readHiddenMarts(): Promise<void> {
  const { value } = await row(
    warehouse,
    `select coalesce(max(value), 'marts_b') as value from sync.settings where name = 'marts_schema'`,
  );
  const hidden = value === 'marts_a' ? 'marts_b' : 'marts_a';
  await warehouse.pool.query(
    `create schema if not exists ${hidden}; comment on schema ${hidden} is 'Daybook: marts';
     create table if not exists ${hidden}.read as select 1 as one`,
  );
  const reader = new pg.Client({ connectionString: databaseUrl, application_name: 'reader' });
  await reader.connect();
  onTestFinished(async () => {
    await reader.end();
    await warehouse.pool.query(`drop schema if exists ${hidden} cascade`);
  });
  await reader.query(`begin; select count(*) from ${hidden}.read`);
}

/** Holds the lock as a worker's build does that waits for a reader. */
async function holdPostgresMarts(): Promise<HeldLock> {
  const lock = await holdLock(databaseUrl, 'marts/postgres');
  if (lock === undefined) throw new Error('Somebody else has it.');
  onTestFinished(() => lock.letGo());
  return lock;
}

function startErasure(): DaybookProcess {
  return startDaybook(['erase', connection, 'bills', id], { cwd, env });
}

function eraseHere({
  onStep = () => undefined,
  timeoutMilliseconds = 100,
}: { onStep?: (text: string) => void; timeoutMilliseconds?: number } = {}): Promise<Erased> {
  const record = { connectionId: connection, resource: bills, id };
  const patience = { timeoutMilliseconds };
  return eraseEverywhere({ settings: settingsOf(env), warehouse }, record, onStep, patience);
}

async function statusOfErasure(): Promise<unknown> {
  const { status } = await row(
    warehouse,
    `select status from sync.runs where kind = 'erase' order by started_at desc limit 1`,
  );
  return status;
}
