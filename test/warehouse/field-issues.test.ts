import { expect, test } from 'vitest';
import { bills } from '../../resources/bills.ts';
import { findFieldIssues } from '../../resources/field-issues.ts';
import { columnExpression } from '../../warehouse/landing/column-expression.ts';
import { bill, item, text } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { row, rows, type Row } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

test.each([
  'N/A',
  '1,234.50',
  'NaN',
  'Infinity',
  '0x10',
  '1_000',
  '1.2.3',
  '.',
  '-',
  ' ',
  '1e2000',
  '١٢',
  'v1.25',
])(
  'the decimal string "%s" is not a number: it lands as null and is recorded in sync.field_issues',
  async (sent) => {
    const connectionId = await addTestConnection(warehouse);
    const record = bill('b', { currency_rate: text(sent) });
    const [facts] = await land(warehouse, { connectionId, stream: 'bills', pages: [[record]] });
    expect(facts).toMatchObject({ inserted: 1, quarantined: 0 });
    expect(await rateOf(connectionId)).toEqual({ currency_rate: null });
    expect(await issuesOf(connectionId)).toEqual([{ record_id: 'b', field: 'currency_rate', value: sent }]);
  },
);

test.each([
  ['1', '1'],
  [' 1.0 ', '1.0'],
  ['\t1.5\n', '1.5'],
  ['\u00a02\ufeff', '2'],
  ['\u000b1.25\u202f', '1.25'],
  ['+3', '3'],
  ['-0.5', '-0.5'],
  ['.5', '0.5'],
  ['5.', '5'],
  ['1E3', '1000'],
])('the decimal string %j is the number %s', async (sent, stored) => {
  const connectionId = await addTestConnection(warehouse);
  const record = bill('b', { currency_rate: text(sent) });
  await land(warehouse, { connectionId, stream: 'bills', pages: [[record]] });
  expect(await rateOf(connectionId)).toEqual({ currency_rate: stored });
  expect(await issuesOf(connectionId)).toEqual([]);
});

test('a decimal with any surrounding character is a number exactly if it has no field issue', async () => {
  const rate = bills.columns.find(({ name }) => name === 'currency_rate');
  if (rate === undefined) throw new Error('Bills have no rate.');
  const record = `jsonb_build_object('currency_rate', chr(code) || '1.25' || chr(code))`;
  const numbers = await rows(
    warehouse,
    `select code from generate_series(1, 65535) code
     where code not between 55296 and 57343 and ${columnExpression(rate, record)} is not null order by code`,
  );
  const withoutIssue = Array.from({ length: 65_535 }, (_, index) => index + 1)
    .filter((code) => code < 55_296 || code > 57_343)
    .filter((code) => {
      const around = String.fromCharCode(code);
      return findFieldIssues(bills, { currency_rate: `${around}1.25${around}` }).length === 0;
    });
  expect(numbers.map(({ code }) => code)).toEqual(withoutIssue);
  expect(withoutIssue.length).toBeGreaterThan(30);
});

test('every field of a record has its own issue, named by its path in the record', async () => {
  const connectionId = await addTestConnection(warehouse);
  const record = item('i', { bill_item: '{"unit_price":"ask"}', invoice_item: '{"unit_price":"varies"}' });
  await land(warehouse, { connectionId, stream: 'items', pages: [[record]] });
  expect(await issuesOf(connectionId)).toEqual([
    { record_id: 'i', field: 'bill_item.unit_price', value: 'ask' },
    { record_id: 'i', field: 'invoice_item.unit_price', value: 'varies' },
  ]);
});

test('a field issue is removed by a good version, and stays when the bad one comes again', async () => {
  const connectionId = await addTestConnection(warehouse);
  const landRate = (rate: string, day: number): Promise<unknown> =>
    land(warehouse, {
      connectionId,
      stream: 'bills',
      pages: [[bill('b', { currency_rate: rate, last_synced_at: `"2024-02-0${day}T00:00:00Z"` })]],
    });
  await landRate('"N/A"', 1);
  await landRate('"N/A"', 2);
  expect(await issuesOf(connectionId)).toHaveLength(1);
  await landRate('"n/a"', 3);
  expect(await issuesOf(connectionId)).toEqual([{ record_id: 'b', field: 'currency_rate', value: 'n/a' }]);
  await landRate('"1.5"', 4);
  expect(await issuesOf(connectionId)).toEqual([]);
  expect(await rateOf(connectionId)).toEqual({ currency_rate: '1.5' });
});

function rateOf(connectionId: string): Promise<Row> {
  return row(warehouse, 'select currency_rate from finance.bills where connection_id = $1', [connectionId]);
}

function issuesOf(connectionId: string): Promise<Row[]> {
  return rows(
    warehouse,
    'select record_id, field, value from sync.field_issues where connection_id = $1 order by field',
    [connectionId],
  );
}
