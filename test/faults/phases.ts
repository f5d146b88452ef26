import { expect } from 'vitest';
import { bill } from '../support/finance-records.ts';
import { secretKey } from '../support/installation.ts';
import { row, rows } from '../support/rows.ts';
import { readIds } from '../webhooks/company.ts';
import { expectExact } from './expect-exact.ts';
import { withinFiveMinutes } from '../support/eventually.ts';
import { retryUntilDone } from './retry-until-done.ts';
import type { World } from './world.ts';

/** A repeatable workload, with the invariants that must hold at its end whatever was killed. */
export interface Phase {
  readonly name: string;
  readonly run: (world: World, company: SyncedConnection) => Promise<void>;
}

export interface SyncedConnection {
  /** A connection that has been synced. */
  readonly name: string;
  /** A different number in each round. */
  readonly turn: number;
}

export const phases: readonly Phase[] = [
  { name: 'a first sync', run: firstSync },
  { name: 'changes and announced deletions', run: changes },
  { name: 'a reconcile', run: reconcile },
  { name: 'a backfill', run: backfill },
  { name: 'webhooks', run: webhooks },
  { name: 'the quarantine', run: quarantine },
  { name: 'an export', run: exportSnapshot },
  { name: 'upkeep', run: upkeep },
  { name: 'keys and tokens', run: keys },
  { name: 'a build of the marts', run: buildMarts },
];

const all = ['bills', 'expenses', 'bill_credit_memos', 'customers', 'items', 'subscriptions'] as const;
const announced = ['bills', 'expenses', 'customers', 'items'] as const;

/** The first sync, on a platform that lacks two lists. Removes the connection at the end. */
async function firstSync(world: World, { turn }: SyncedConnection): Promise<void> {
  const name = `new-${turn}`;
  const platform = 'SAGE_INTACCT';
  await world.admin.execute({ kind: 'add-connection', name, platform, records: 20, accessToken: name });
  await retryUntilDone(world, ['connection', 'add', name, '--token-stdin', '--every', '1h'], {
    input: name,
    done: /There is a connection/,
  });
  // No such record exists, but before it may ask, the command pins the company for which the service answers.
  await retryUntilDone(world, ['erase', name, 'bills', 'never-was']);
  await retryUntilDone(world, ['connection', 'pause', name]);
  await retryUntilDone(world, ['connection', 'resume', name]);
  await retryUntilDone(world, ['sync', name]);
  await expectExact(world, name);
  await retryUntilDone(world, ['connection', 'remove', name], { done: /There is no connection/ });
  await withinFiveMinutes(async () => {
    const left = await row(
      world.warehouse,
      'select count(*)::int as n from finance.bills where connection_id = $1',
      [name],
    );
    expect(left).toEqual({ n: 0 });
    return 'gone';
  });
}

async function changes(world: World, { name, turn }: SyncedConnection): Promise<void> {
  const gone = await readIds(world, name, { count: 1 });
  await world.admin.activity({ connection: name, seed: turn, changes: 2, touches: 1, resources: [...all] });
  for (const id of gone)
    await world.admin.execute({ kind: 'delete', connection: name, resource: 'bills', id });
  await retryUntilDone(world, ['sync', name]);
  await expectExact(world, name);
  await expectTombstones(world, name, gone);
}

/** Reconciles after unannounced deletions, a refused cursor, and damage to the tables. */
async function reconcile(world: World, { name, turn }: SyncedConnection): Promise<void> {
  const { admin } = world;
  const gone: string[] = [];
  for (const resource of all) {
    const [id = ''] = await readIds(world, name, { resource });
    await admin.execute({ kind: 'delete', connection: name, resource, id, event: false });
    gone.push(id);
  }
  await damage(world, 'customers', { name, turn });
  await admin.configure({ maximumLimit: 20 });
  await admin.addFault({
    match: { connection: name, path: '/accounting/bills', query: 'cursor' },
    times: 2,
    fault: { kind: 'status', status: 400 },
  });
  await retryUntilDone(world, ['reconcile', name]);
  await admin.clearFaults();
  await admin.configure({});
  await expectExact(world, name);
  await expectTombstones(world, name, gone);
}

async function backfill(world: World, { name, turn }: SyncedConnection): Promise<void> {
  await damage(world, 'items', { name, turn });
  // A different end makes it a different backfill.
  const to = new Date(Date.UTC(2030, 0, 1 + turn)).toISOString().slice(0, 10);
  await retryUntilDone(world, ['backfill', name, '--from', '2015-01-01', '--to', to, '--window', '9000d']);
  // Records without `updated_at` are in no window of a backfill.
  await retryUntilDone(world, ['reconcile', name, '--resource', 'items']);
  await expectExact(world, name);
}

async function webhooks(world: World, { name, turn }: SyncedConnection): Promise<void> {
  const { admin, webhookUrl } = world;
  // The service retries for five minutes, and every fault is over by then.
  await admin.sendWebhooks({ addresses: [webhookUrl], attempts: 20, spreadMs: 300_000 });
  const gone = await readIds(world, name, { resource: 'customers', count: 1 });
  await admin.activity({ connection: name, seed: turn, changes: 2, resources: [...announced] });
  for (const id of gone) await admin.execute({ kind: 'delete', connection: name, resource: 'customers', id });
  await withinFiveMinutes(async () => {
    const { waiting } = await admin.deliveries();
    const inbox = await rows(world.warehouse, `select from sync.webhook_inbox where status = 'waiting'`);
    return waiting + inbox.length === 0 ? 'applied' : undefined;
  });
  await admin.sendWebhooks({});
  await expectExact(world, name);
  await expectTombstones(world, name, gone);
}

async function quarantine(world: World, { name, turn }: SyncedConnection): Promise<void> {
  const { admin } = world;
  const id = `odd-${turn}`;
  const record = bill(id, { total_amount: '{}' });
  await admin.execute({ kind: 'add', connection: name, resource: 'bills', record });
  await retryUntilDone(world, ['sync', name], { code: 3 });
  await expectExact(world, name, { statuses: ['succeeded', 'partial'] });
  const patch = '{"total_amount":1.10}';
  await admin.execute({ kind: 'change', connection: name, resource: 'bills', id, patch });
  await retryUntilDone(world, ['quarantine', 'replay', '--connection', name]);
  await expectExact(world, name, { statuses: ['succeeded', 'partial'] });
}

async function exportSnapshot(world: World, { name, turn }: SyncedConnection): Promise<void> {
  await damage(world, 'items', { name, turn });
  await retryUntilDone(world, ['export']);
  await retryUntilDone(world, ['snapshots', 'verify']);
  await retryUntilDone(world, ['export', '--every', '1h']);
  await retryUntilDone(world, ['export', '--every', 'off']);
}

async function upkeep(world: World, { name }: SyncedConnection): Promise<void> {
  const [id = ''] = await readIds(world, name, { resource: 'customers' });
  await world.admin.execute({ kind: 'delete', connection: name, resource: 'customers', id });
  await retryUntilDone(world, ['sync', name]);
  await retryUntilDone(world, ['erase', name, 'customers', id]);
  await retryUntilDone(world, ['rebuild', name]);
  await retryUntilDone(world, ['prune']);
  await retryUntilDone(world, ['reconcile', name]);
  await expectExact(world, name, { statuses: ['succeeded', 'partial'] });
}

/** Changes to another key and back. */
async function keys(world: World, { name }: SyncedConnection): Promise<void> {
  const [old, other] = [secretKey.toString('base64'), Buffer.alloc(32, 'o').toString('base64')];
  for (const [from, to] of [
    [old, other],
    [other, old],
  ] as const) {
    await retryUntilDone(world, ['connection', 'rotate-key', '--new-key-env', 'NEW_KEY'], {
      env: { DAYBOOK_SECRET_KEY: from, NEW_KEY: to },
      done: /another key/,
    });
  }
  await retryUntilDone(world, ['connection', 'set-token', name, '--token-stdin'], {
    input: `token-of-${name}`,
  });
  await retryUntilDone(world, ['sync', name]);
  await expectExact(world, name, { statuses: ['succeeded', 'partial'] });
}

/** No other command here finds a Python, so no build follows an export. */
async function buildMarts(world: World, { name }: SyncedConnection): Promise<void> {
  const { PATH = '' } = process.env;
  await retryUntilDone(world, ['dbt', 'build'], { env: { PATH } });
  const countRows = async (schema: string): Promise<unknown> =>
    row(world.warehouse, `select count(*) from ${schema}.bills where connection_id = $1`, [name]);
  await withinFiveMinutes(async () => {
    expect(await countRows('marts')).toEqual(await countRows('finance'));
    return 'equal';
  });
}

/** Damages rows that a reconcile or a backfill repairs. */
async function damage({ warehouse }: World, table: string, { name, turn }: SyncedConnection): Promise<void> {
  await withinFiveMinutes(() =>
    rows(warehouse, `update finance.${table} set platform_id = 'damaged ' || $2 where connection_id = $1`, [
      name,
      String(turn),
    ]),
  );
}

async function expectTombstones({ warehouse }: World, name: string, ids: readonly string[]): Promise<void> {
  const proof = await rows(
    warehouse,
    'select distinct record_id as id from sync.tombstones where connection_id = $1 and record_id = any($2)',
    [name, ids],
  );
  expect(proof.map(({ id }) => id).sort()).toEqual([...ids].sort());
}
