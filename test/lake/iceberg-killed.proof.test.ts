import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { showSnapshots } from '../../iceberg/show-snapshots.ts';
import type { Lake } from '../../lake/lake.ts';
import { openLake } from '../../lake/open-lake.ts';
import { readManifest } from '../../lake/manifest/pointer.ts';
import { cacheFolder } from '../support/cache-folder.ts';
import { bill } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { row, rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake } from './create-test-lake.ts';
import { manifestSeen, readIceberg, type IcebergSeen } from './read-iceberg.ts';

const { warehouse, url } = await createTestDatabase();
const { exportNow, location, scratch, owner } = await createTestLake(url, {
  iceberg: { add: true, cacheFolder },
});
const lake = await openLake({ location, scratch });
const connectionId = await addTestConnection(warehouse);

/** Every commit to the catalog waits for a lock that this test holds. */
const held = 4711;
await rows(
  warehouse,
  `create function public.wait_for_test() returns trigger language plpgsql as $$
     begin perform pg_advisory_xact_lock_shared(${held}); return null; end $$;
   create trigger wait_for_test before insert or update or delete on iceberg.iceberg_tables
     for each statement execute function public.wait_for_test()`,
);

test('a program that is killed before any of its commits leaves complete tags whole, and the next one ends its work', async () => {
  await change(0);
  await exportNow();
  const commits = await show(Infinity);
  expect(commits).toBeGreaterThan(4);
  for (let at = 0; at < commits; at += 1) {
    expect(await show(at)).toBe(at);
    // What a reader sees meanwhile, by the list of complete tags.
    await expectWhole();
    await exportNow({ force: true });
    const seen = await expectWhole();
    expect(Object.keys(seen)).toEqual(await lake.snapshotIds());
    expect(await leftovers(lake)).toEqual([]);
  }
}, 3_600_000);

/** Exports a change, removes the oldest snapshot, and shows both, until that many commits are done; then kills the program. Returns how many were. */
async function show(most: number): Promise<number> {
  await change(most);
  const { snapshotId } = await exportNow({ iceberg: { add: false, cacheFolder } });
  const [oldest = ''] = await lake.snapshotIds();
  await lake.removeSnapshot(oldest);
  // In turns: the one that waits has the lock as soon as the commit is done that waited for the other one.
  const holders = [await warehouse.pool.connect(), await warehouse.pool.connect()] as const;
  const killer = new AbortController();
  try {
    await holders[0].query('select pg_advisory_lock($1)', [held]);
    const places = {
      databaseUrl: url,
      cacheFolder,
      scratch: join(scratch, 'iceberg'),
      signal: killer.signal,
    };
    const showing = { over: false };
    const ended = showSnapshots(lake, places, { owner, add: true, newest: snapshotId, sweep: true })
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        showing.over = true;
      });
    let commits = 0;
    while (!showing.over) {
      await wait(20);
      if ((await countWaiting()) === 0) continue;
      if (commits === most) {
        killer.abort();
        expect(await ended).toBe(false);
        break;
      }
      const [now, next] = commits % 2 === 0 ? holders : [holders[1], holders[0]];
      const taken = next.query('select pg_advisory_lock($1)', [held]);
      while ((await countWaiting()) < 2) await wait(5);
      await now.query('select pg_advisory_unlock($1)', [held]);
      await taken;
      commits += 1;
    }
    expect(await ended).toBe(commits !== most);
    return commits;
  } finally {
    for (const holder of holders) {
      await holder.query('select pg_advisory_unlock_all()');
      holder.release();
    }
  }
}

async function countWaiting(): Promise<number> {
  const { n } = await row(
    warehouse,
    `select count(*)::int as n from pg_locks where locktype = 'advisory' and objid = ${held} and not granted
       and database = (select oid from pg_database where datname = current_database())`,
  );
  return Number(n);
}

async function change(at: number): Promise<void> {
  const page = [bill(`at ${at}`, { total_amount: '0.000000001' })];
  await land(warehouse, { connectionId, stream: 'bills', pages: [page] });
}

/** Every tag that is listed as complete has the sums of its snapshot, whose files may be gone only if the lake has removed it. */
async function expectWhole(): Promise<IcebergSeen> {
  const seen = await readIceberg(url, { reader: 'pyiceberg', tables: ['bills', 'streams'] });
  const there = new Set(await lake.snapshotIds());
  for (const [id, tables] of Object.entries(seen)) {
    if (!there.has(id)) continue;
    const manifest = await readManifest(lake, id);
    expect(manifest).toBeDefined();
    expect(tables).toMatchObject(manifestSeen(manifest!, Object.keys(tables)));
  }
  return seen;
}

/** Drafts of files beside those of the tables. */
async function leftovers(of: Lake): Promise<string[]> {
  return (await of.filesIn('iceberg')).filter((path) => path.includes('.tmp-'));
}
