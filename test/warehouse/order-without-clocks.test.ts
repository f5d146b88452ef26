import { expect, test } from 'vitest';
import { rebuildConnection } from '../../operations/rebuild-connection.ts';
import { findAbsent } from '../../warehouse/reconcile/find-absent.ts';
import { resources } from '../../resources/index.ts';
import { takeWriteTime } from '../../warehouse/clock/resource-clock.ts';
import { bill } from '../support/finance-records.ts';
import { landListing } from '../support/land-listing.ts';
import { land } from '../support/land.ts';
import { row, rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

test('the order of versions never depends on the database clock: A, B, A ends as A', async () => {
  const connectionId = await addTestConnection(warehouse);
  const version = (memo: string, day: number): string =>
    bill('b', { memo: `"${memo}"`, last_synced_at: `"2024-02-0${day}T00:00:00Z"` });
  await land(warehouse, { connectionId, stream: 'bills', pages: [[version('A', 1)]] });
  await land(warehouse, { connectionId, stream: 'bills', pages: [[version('B', 2)]] });
  await wasTwoHoursAhead(connectionId);
  await land(warehouse, { connectionId, stream: 'bills', pages: [[version('A', 3)]] });
  expect(await memosOf(connectionId)).toEqual(['A', 'B', 'A']);
  expect(await heldMemo(connectionId)).toBe('A');
  await rebuildConnection(warehouse, {
    connectionId,
    resources: resources.filter(({ name }) => name === 'bills'),
    onBatch: () => undefined,
  });
  expect(await heldMemo(connectionId)).toBe('A');
});

test('a reconcile finds a deletion even if the database clock was ahead when the record landed', async () => {
  const connectionId = await addTestConnection(warehouse);
  await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('a'), bill('b')]] });
  await wasTwoHoursAhead(connectionId);
  const listing = await landListing(warehouse, { connectionId, stream: 'bills', records: [bill('a')] });
  expect(await findAbsent(warehouse, listing)).toMatchObject({ absent: 1 });
});

test('write times lost in a failover are not reused while the clock is behind', async () => {
  const connectionId = await addTestConnection(warehouse);
  await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('a')]] });
  await wasTwoHoursAhead(connectionId);
  const lost = await timesOfWrites(connectionId);
  expect(new Set(lost).size).toBe(3);
  expect(await timesOfWrites(connectionId)).not.toEqual(lost);
});

test('a run begins after the previous one, even if the database clock was ahead then', async () => {
  const connectionId = await addTestConnection(warehouse);
  await land(warehouse, { connectionId, stream: 'bills', pages: [[]], runId: `${connectionId}-first` });
  await warehouse.pool.query(
    `update sync.runs set started_at = started_at + interval '2 hours', status = 'running'
     where connection_id = $1`,
    [connectionId],
  );
  await land(warehouse, { connectionId, stream: 'bills', pages: [[]], runId: `${connectionId}-second` });
  expect(
    await rows(
      warehouse,
      'select run_id, status from sync.runs where connection_id = $1 order by started_at',
      [connectionId],
    ),
  ).toEqual([
    { run_id: `${connectionId}-first`, status: 'interrupted' },
    { run_id: `${connectionId}-second`, status: 'running' },
  ]);
});

/** Makes everything written so far look as if a clock had written it that was corrected since. */
async function wasTwoHoursAhead(connectionId: string): Promise<void> {
  const later = "+ interval '2 hours'";
  for (const statement of [
    `update history.record_versions set recorded_at = recorded_at ${later} where connection_id = $1`,
    `update finance.bills set _first_seen_at = _first_seen_at ${later}, _changed_at = _changed_at ${later} where connection_id = $1`,
    `update sync.resource_clocks set landed_at = landed_at ${later} where connection_id = $1`,
  ])
    await warehouse.pool.query(statement, [connectionId]);
}

async function memosOf(connectionId: string): Promise<unknown[]> {
  const versions = await rows(
    warehouse,
    `select payload ->> 'memo' as memo from history.record_versions where connection_id = $1 order by recorded_at`,
    [connectionId],
  );
  return versions.map(({ memo }) => memo);
}

async function heldMemo(connectionId: string): Promise<unknown> {
  return (await row(warehouse, 'select memo from finance.bills where connection_id = $1', [connectionId]))
    .memo;
}

/** The times of three writes that are rolled back. */
async function timesOfWrites(connectionId: string): Promise<string[]> {
  const times: string[] = [];
  const rolledBack = warehouse.db.transaction().execute(async (db) => {
    for (let write = 0; write < 3; write++)
      times.push(await takeWriteTime(db, { connectionId, resource: 'bills' }));
    throw new Error('rolled back');
  });
  await expect(rolledBack).rejects.toThrow('rolled back');
  return times;
}
