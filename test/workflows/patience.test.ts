import { afterEach, describe, expect, test } from 'vitest';
import { backfill } from '../backfill/run-backfill.ts';
import { createInstallation } from '../support/installation.ts';
import { proofTest, some } from '../support/proof-test.ts';
import { reconcile } from '../support/reconcile.ts';
import { row } from '../support/rows.ts';
import { statusesOf, sync } from '../support/sync.ts';

const installation = await createInstallation({ env: { DAYBOOK_GIVE_UP_AFTER: '3s' } });
const { admin, warehouse } = installation;
await installation.startWorker();

afterEach(async () => {
  await admin.clearFaults();
  await admin.configure({});
});

const unavailable = { kind: 'status', status: 503 } as const;

describe('the time before a list is given up starts over with each run', () => {
  test('a run after one that gave up a list gets over a single 503', async () => {
    const connection = await installation.connect();
    await admin.addFault({ match: { connection, path: '/accounting/items' }, fault: unavailable });
    expect(statusesOf((await sync(installation, connection)).run).items).toBe('failed');
    await admin.clearFaults();
    await admin.addFault({ match: { connection, path: '/accounting/items' }, times: 1, fault: unavailable });
    const { run } = await sync(installation, connection);
    expect(run.status).toBe('succeeded');
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  proofTest('a run after one that ended while a list was failing gets over a single 503', async () => {
    const connection = await installation.connect();
    await sync(installation, connection);
    await warehouse.pool.query(
      `insert into sync.passes (connection_id, stream, kind, run_id, lease, failing_since)
       values ($1, 'items', 'sync', 'ended', 'ended', now() - interval '1 hour')`,
      [connection],
    );
    await admin.addFault({ match: { connection, path: '/accounting/items' }, times: 1, fault: unavailable });
    expect((await sync(installation, connection)).run.status).toBe('succeeded');
  });
});

/** Every page after the first fails: the cursor leads nowhere as long as it is the same. */
describe.each(
  some([
    ['/accounting/bills', 'bills'],
    ['/subscriptions', 'subscriptions'],
  ]),
)('a cursor of %s that always answers 503', (path, stream) => {
  test('is abandoned by the sync after the one that gave up', async () => {
    const connection = await installation.connect({ records: 600 });
    await admin.configure({ maximumLimit: 20 });
    const dead = await failFromSecondPageOn(connection, path);
    expect(statusesOf((await sync(installation, connection)).run)[stream]).toBe('failed');
    await letOnlyFail(connection, { path, cursor: await dead() });
    const { run } = await sync(installation, connection);
    expect(run.status).toBe('succeeded');
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  proofTest(
    'is abandoned by the backfill after the one that gave up, which starts the window again',
    async () => {
      const connection = await installation.connect({ records: 600 });
      await admin.configure({ maximumLimit: 20 });
      const all = { from: '2000-01-01', to: '2040-01-01', windowMilliseconds: 3_650 * 86_400_000 };
      const dead = await failFromSecondPageOn(connection, path);
      const first = await backfill(installation, { connection, ...all });
      expect(statusesOf(first.run)[stream]).toBe('failed');
      await letOnlyFail(connection, { path, cursor: await dead() });
      expect((await backfill(installation, { connection, ...all })).run.status).toBe('succeeded');
    },
  );

  proofTest('is abandoned by the reconcile after the one that gave up', async () => {
    const connection = await installation.connect({ records: 600 });
    await sync(installation, connection);
    await admin.configure({ maximumLimit: 20 });
    const dead = await failFromSecondPageOn(connection, path);
    const first = await reconcile(installation, connection);
    expect(statusesOf(first.run)[stream]).toBe('failed');
    const { cursor } = await row(
      warehouse,
      `select cursor from sync.passes where connection_id = $1 and stream = $2 and kind = 'reconcile'`,
      [connection, stream],
    );
    expect(cursor).toBeNull();
    await letOnlyFail(connection, { path, cursor: await dead() });
    expect((await reconcile(installation, connection)).run.status).toBe('succeeded');
  });
});

/** Returns a function that returns the cursor that failed. */
async function failFromSecondPageOn(connection: string, path: string): Promise<() => Promise<string>> {
  await admin.clearRequests();
  await admin.addFault({ match: { connection, path, query: 'cursor=' }, fault: unavailable });
  return async () => {
    const asked = (await admin.requests()).filter(
      (one) => one.connection === connection && one.path === path,
    );
    const cursors = asked.flatMap(({ query }) => new URLSearchParams(query).get('cursor') ?? []);
    const last = cursors.at(-1);
    if (last === undefined) throw new Error(`No cursor of ${path} was asked for.`);
    return last;
  };
}

/** Makes only this cursor fail. With another page size, a new reading from the start gets other cursors. */
async function letOnlyFail(
  connection: string,
  { path, cursor }: { path: string; cursor: string },
): Promise<void> {
  await admin.clearFaults();
  await admin.configure({ maximumLimit: 35 });
  await admin.addFault({
    match: { connection, path, query: `cursor=${encodeURIComponent(cursor)}` },
    fault: unavailable,
  });
}
