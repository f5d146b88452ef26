import { join } from 'node:path';
import { expect, test } from 'vitest';
import { usualSizes } from '../../activities/export/plan-parts.ts';
import { openExportSession } from '../../warehouse/snapshots/open-snapshot.ts';
import { snapshotTables } from '../../warehouse/snapshots/snapshot-tables.ts';
import { weighTable } from '../../warehouse/snapshots/weigh-table.ts';
import { bill, subscription } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake } from './create-test-lake.ts';
import { readParquet } from './read-parquet.ts';

const { warehouse, url } = await createTestDatabase();

test('every reader of an export sees the moment at which it began, whatever is committed before the reader reads', async () => {
  const connectionId = await addTestConnection(warehouse);
  const session = await openExportSession(url);
  const snapshot = await session.openSnapshot({ readers: 2 });
  await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('later')]] });
  const seen = await Promise.all(
    snapshot.readers.map((reader) => reader.query<{ id: string }>('select id from finance.bills')),
  );
  expect(seen.map((result) => result.rows)).toEqual([[], []]);
  await snapshot.close();
  await session.close();
  expect(await rows(warehouse, 'select id from finance.bills')).toEqual([{ id: 'later' }]);
});

test('every file of a snapshot is of one moment, even of a table whose changes do not all call for a snapshot', async () => {
  const connectionId = await addTestConnection(warehouse);
  const { exportNow, location } = await createTestLake(url);
  /** A sync on some day of last month that changes a bill. */
  const sync = async (version: string, daysBefore: number): Promise<void> => {
    const changed = bill('b', { last_synced_at: `"${version}"` });
    await land(warehouse, { connectionId, stream: 'bills', pages: [[changed]] });
    await land(warehouse, { connectionId, stream: 'subscriptions', pages: [[subscription('s')]] });
    const at = `date_trunc('month', now()) - interval '${String(daysBefore)} days'`;
    for (const what of [
      `sync.runs set status = 'succeeded', started_at = ${at}, finished_at = ${at} where status = 'running'`,
      `sync.run_streams set finished_at = ${at} where status = 'succeeded'`,
      `sync.streams set last_success_at = ${at} where last_success_at is not null`,
    ])
      await rows(warehouse, `update ${what}`);
  };
  await sync('2024-02-01T00:00:00Z', 10);
  await exportNow();
  await sync('2024-02-02T00:00:00Z', 9);
  const { snapshotId, skipped } = await exportNow();
  expect(skipped).toBe(false);
  const ofConnection = `where connection_id = '${connectionId}'`;
  const months = `select stream, month::varchar as month, outcome, complete_until::varchar as until`;
  const success = `select bills_last_success_at as bills, subscriptions_last_success_at as subscriptions`;
  const micros = (select: string, of: string): string => select.replaceAll(/\w+_success_at/g, of);
  const folder = join(location, 'snapshots', snapshotId);
  const held = {
    months: await rows(warehouse, `${months} from history.stream_months ${ofConnection} order by 1, 2`),
    success: await rows(
      warehouse,
      `${micros(success, '(extract(epoch from $&) * 1000000)::bigint::text')} from finance.connections ${ofConnection}`,
    ),
  };
  expect(held.months.map(({ stream }) => stream)).toContain('bills');
  expect({
    months: await readParquet(
      folder,
      `${months} from read_parquet('{lake}/stream_months/*.parquet') ${ofConnection} order by 1, 2`,
    ),
    success: await readParquet(
      folder,
      `${micros(success, 'epoch_us($&)::varchar')} from read_parquet('{lake}/connections/*.parquet') ${ofConnection}`,
    ),
  }).toEqual(held);
});

test('the content hash of a file covers every column of its table', async () => {
  const client = await warehouse.pool.connect();
  try {
    for (const table of snapshotTables.filter(
      ({ changesBy }) => typeof changesBy === 'object' && 'contentOf' in changesBy,
    )) {
      const { content } = await weighTable(client, table, usualSizes);
      for (const { name } of table.columns) {
        const others = table.columns.map((column) =>
          column.name === name ? `null as "${name}"` : `"${column.name}"`,
        );
        const without = { ...table, from: `(select ${others.join(', ')} from ${table.from}) as changed` };
        const { rows: values } = await client.query(
          `select from ${table.from} where "${name}" is not null limit 1`,
        );
        if (values.length > 0)
          expect((await weighTable(client, without, usualSizes)).content, `${table.name}.${name}`).not.toBe(
            content,
          );
      }
    }
  } finally {
    client.release();
  }
});
