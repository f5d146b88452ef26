import { appendFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { runDaybook, type Ended } from '../support/daybook-process.ts';
import { bill, billLine, list } from '../support/finance-records.ts';
import { buildDeletionEvent, landEvents } from '../support/land-events.ts';
import { land } from '../support/land.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake } from './create-test-lake.ts';

const { warehouse, url } = await createTestDatabase();
const { exportNow, location, scratch } = await createTestLake(url);
const [us, eu] = [await addTestConnection(warehouse), await addTestConnection(warehouse)];
for (const connectionId of [us, eu])
  await land(warehouse, {
    connectionId,
    stream: 'bills',
    pages: [[bill('kept'), bill('edited', { line_items: list(billLine(), billLine()) }), bill('deleted')]],
  });
const { snapshotId: first } = await exportNow();
await land(warehouse, {
  connectionId: us,
  stream: 'bills',
  pages: [
    [
      bill('edited', {
        last_synced_at: '"2030-01-01T00:00:00Z"',
        total_amount: '0.1',
        line_items: list(billLine()),
      }),
      bill('new'),
    ],
  ],
});
await landEvents(warehouse, {
  connectionId: us,
  events: [buildDeletionEvent('deleted', '2030-01-01T00:00:00Z')],
});
const { snapshotId: second } = await exportNow();

test('added, removed and changed rows are counted by connection and table', async () => {
  const { code, stdout, stderr } = await diff(first, second, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const { from, to, columns, rows } = JSON.parse(stdout) as { rows: Moved[] } & Record<string, unknown>;
  expect({ from, to, columns }).toEqual({ from: first, to: second, columns: [] });
  expect(
    rows.filter(({ table }) => !['runs', 'streams', 'connections', 'stream_months'].includes(table)),
  ).toEqual([
    moved('bill_lines', { added: 1, removed: 2 }),
    moved('bills', { added: 1, removed: 1, changed: 1 }),
    moved('deleted_records', { added: 1 }),
  ]);
});

test('a diff in the opposite direction swaps added and removed rows', async () => {
  const { rows } = JSON.parse((await diff(second, first, '--json')).stdout) as { rows: Moved[] };
  expect(rows).toContainEqual(moved('bills', { added: 1, removed: 1, changed: 1 }));
  expect(rows).toContainEqual(moved('bill_lines', { added: 2, removed: 1 }));
});

test('a diff prints a table, or that the rows are the same; an unknown or invalid ID is refused in a sentence', async () => {
  expect((await diff(first, second)).stdout).toMatch(new RegExp(`${us} +bills +1 +1 +1`));
  expect((await diff(first, first)).stdout).toBe('The snapshots hold the same rows.\n');
  expect(await diff(first, '20200101T000000Z-000000')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /^There is no snapshot 20200101T000000Z-000000 in .*"daybook snapshots list"/,
    ) as unknown,
  });
  expect(await diff('../..', second)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('is not a snapshot ID') as unknown,
  });
});

test('a file that differs from its manifest is not compared', async () => {
  await appendFile(join(location, 'snapshots', second, 'bills', 'part-00000.parquet'), 'x');
  expect(await diff(first, second)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('bills/part-00000.parquet') as unknown,
  });
});

interface Moved {
  readonly table: string;
}

function moved(table: string, counts: Readonly<Record<string, number>>): Moved {
  return { connection_id: us, table, added: 0, removed: 0, changed: 0, ...counts } as Moved;
}

function diff(...args: string[]): Promise<Ended> {
  const env = { DAYBOOK_HOME: scratch, DAYBOOK_LAKE: location };
  return runDaybook(['snapshots', 'diff', ...args], { cwd: dirname(location), env });
}
