import { describe, expect, test } from 'vitest';
import { bill } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { rows, type Row } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

describe('history.as_of', () => {
  test('shows a version from the very moment it was recorded, and not a microsecond before', async () => {
    const connectionId = await addTestConnection(warehouse);
    for (const memo of ['"one"', '"two"'])
      await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b', { memo })]] });
    const [first, second] = await rows(
      warehouse,
      `select recorded_at::text as at, (recorded_at - interval '1 microsecond')::text as before
       from history.record_versions where connection_id = $1 order by recorded_at`,
      [connectionId],
    );
    expect(await asOf(connectionId, first?.before)).toEqual([]);
    expect(await asOf(connectionId, first?.at)).toEqual([{ record_id: 'b', memo: 'one' }]);
    expect(await asOf(connectionId, second?.before)).toEqual([{ record_id: 'b', memo: 'one' }]);
    expect(await asOf(connectionId, second?.at)).toEqual([{ record_id: 'b', memo: 'two' }]);
  });

  test('does not show a record between its deletion and its return', async () => {
    const connectionId = await addTestConnection(warehouse);
    await addVersion(connectionId, '2026-01-01 10:00:00', 'upsert', 'first life');
    await addVersion(connectionId, '2026-01-02 10:00:00', 'delete', 'first life');
    await addVersion(connectionId, '2026-01-03 10:00:00', 'upsert', 'second life');
    const memos = await Promise.all(
      [
        '2026-01-01 09:59:59.999999',
        '2026-01-01 10:00:00',
        '2026-01-02 09:59:59.999999',
        '2026-01-02 10:00:00',
        '2026-01-03 09:59:59.999999',
        '2026-01-03 10:00:00',
        'infinity',
        '-infinity',
      ].map(async (moment) => (await asOf(connectionId, moment)).map(({ memo }) => memo)),
    );
    expect(memos).toEqual([[], ['first life'], ['first life'], [], [], ['second life'], ['second life'], []]);
  });

  test('compares moments, not texts: a moment in another time zone gives the same result', async () => {
    const connectionId = await addTestConnection(warehouse);
    await addVersion(connectionId, '2026-03-31 22:30:00', 'upsert', 'late in March');
    expect(await asOf(connectionId, '2026-04-01 00:29:59.999999+02')).toEqual([]);
    expect(await asOf(connectionId, '2026-04-01 00:30:00+02')).toHaveLength(1);
  });

  test('separates the records of connections and of resources', async () => {
    const [one, other] = [await addTestConnection(warehouse), await addTestConnection(warehouse)];
    await addVersion(one, '2026-01-01', 'upsert', 'of one');
    await addVersion(other, '2026-01-02', 'delete', 'of the other');
    await addVersion(one, '2026-01-02', 'delete', 'an expense', 'expenses');
    expect(await asOf(one, '2026-02-01')).toEqual([{ record_id: 'b', memo: 'of one' }]);
    expect(await asOf(other, '2026-02-01')).toEqual([]);
  });

  test('gives the same result for one connection or one record as for all', async () => {
    const [one, other] = [await addTestConnection(warehouse), await addTestConnection(warehouse)];
    await addVersion(one, '2026-01-01', 'upsert', 'of one');
    await addVersion(one, '2026-01-02', 'upsert', 'of one, later');
    await addVersion(other, '2026-01-01', 'upsert', 'of the other');
    await addVersion(other, '2026-01-03', 'delete', 'of the other');
    for (const connectionId of [one, other, 'nobody'])
      for (const moment of ['2025-12-31', '2026-01-01', '2026-01-02', '2026-01-03']) {
        const known = await asOf(connectionId, moment);
        const narrow = (record: string): Promise<Row[]> =>
          rows(
            warehouse,
            `select record_id, payload ->> 'memo' as memo
             from history.as_of('bills', $1, connection => $2${record})`,
            [moment, connectionId],
          );
        expect(await narrow('')).toEqual(known);
        expect(await narrow(`, record => 'b'`)).toEqual(known);
        expect(await narrow(`, record => 'c'`)).toEqual([]);
      }
  });
});

async function addVersion(
  connectionId: string,
  recordedAt: string,
  op: string,
  memo: string,
  resource = 'bills',
): Promise<void> {
  await warehouse.pool.query(
    `insert into history.record_versions (connection_id, resource, record_id, recorded_at, op, payload)
     values ($1, $2, 'b', $3, $4, jsonb_build_object('memo', $5::text))`,
    [connectionId, resource, recordedAt, op, memo],
  );
}

function asOf(connectionId: string, moment: unknown): Promise<Row[]> {
  return rows(
    warehouse,
    `select record_id, payload ->> 'memo' as memo from history.as_of('bills', $2) where connection_id = $1`,
    [connectionId, moment],
  );
}
