import { beforeAll, expect, test } from 'vitest';
import { readDashboard, type Dashboard } from '../../server/dashboard/read-dashboard.ts';
import { readMonths, unreadWords } from '../../server/dashboard/unread.ts';
import { notesOf } from '../../server/dashboard/views/headline.tsx';
import { readWaitingDeletions } from '../../warehouse/reconcile/read-waiting-deletions.ts';
import { bill, billLine, list, subscription } from '../support/finance-records.ts';
import { createInstallation } from '../support/installation.ts';
import { land } from '../support/land.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection, testApiAddress } from '../support/test-connection.ts';
import { buildMarts } from './build-marts.ts';

const installation = await createInstallation();
const { warehouse } = installation;
const asOfDate = '2025-12-16';
let dashboard: Dashboard;

beforeAll(async () => {
  // Read last on 15 November, and on 10 December; of the last one expenses and credits were never read.
  await addCompany('early', { bills: { '2025-11': 20, '2024-11': 100, '2025-10': 50, '2024-10': 40 } });
  await addCompany('whole', { bills: { '2025-11': 7, '2024-11': 5 } });
  await addCompany('begun', { bills: { '2025-10': 900 }, streams: ['bills'] });
  await warehouse.pool.query(
    `update sync.streams set last_success_at = read_at::timestamptz
     from (values ('early', '2025-11-15 12:00Z'), ('whole', '2025-12-10 12:00Z')) as told (name, read_at)
     where connection_id = name`,
  );
  // Subscriptions of one were last read on 3 October, and next in November.
  await warehouse.pool.query(`
    update history.record_versions set recorded_at = '2025-09-10' where resource = 'subscriptions';
    delete from sync.runs;
    insert into history.kept_stream_months (connection_id, stream, month, outcome, complete_until) values
      ('whole', 'subscriptions', '2025-09-01', 'complete', '2025-09-30'),
      ('whole', 'subscriptions', '2025-10-01', 'complete', '2025-10-03'),
      ('whole', 'subscriptions', '2025-11-01', 'complete', '2025-11-30'),
      ('whole', 'subscriptions', '2025-12-01', 'complete', '2025-12-10')`);
  // A reconcile found a bill gone, and stopped to ask.
  await warehouse.pool.query(`
    insert into sync.runs (run_id, connection_id, kind, status, workflow_id, temporal_run_id, reason, finished_at)
    values ('asked', 'whole', 'reconcile', 'partial', '', '', 'test', now());
    insert into sync.run_streams (run_id, connection_id, stream, status, failure_type)
    values ('asked', 'whole', 'bills', 'partial', 'ApprovalNeeded');
    insert into sync.discrepancies (connection_id, resource, record_id, kind, status, version, run_id)
    values ('whole', 'bills', 'whole 2025-11', 'extra', 'confirmed', now(), 'asked')`);
  await buildMarts(installation, { asOfDate, apiAddress: testApiAddress });
  dashboard = await readDashboard(warehouse);
});

test('a month that was not read to its end is compared with nothing, and the page says which it is', () => {
  expect(seen('spend-by-vendor', 'early')).toMatchObject({
    sentence: 'EUR 50.00 from Dec 2024 to Oct 2025, 40.00 in the same months a year before.',
    gap: 'Nov 2025 was not read to its end: left out of both years.',
  });
  expect(seen('spend-by-vendor', 'whole')).toMatchObject({
    sentence: 'EUR 7.00 from Dec 2024 to Nov 2025, 5.00 in the 12 months before.',
    gap: gone('spend'),
  });
  expect(seen('spend-by-vendor', 'begun')).toMatchObject({
    sentence: 'Nothing was spent in the last 24 complete months.',
    gap: 'Dec 2024 to Nov 2025 were not read to their end: left out of both years.',
  });
  expect(seen('spend-by-vendor', '')).toMatchObject({
    sentence: 'EUR 57.00 from Dec 2024 to Nov 2025, 45.00 in the 12 months before.',
    gap: `${gone('spend').slice(0, -1)}; Dec 2024 to Nov 2025 of begun and Nov 2025 of early were not read to their end: left out of both years.`,
  });
});

test('spend by month says which months were read in part', () => {
  const shown = seen('spend-by-month', 'early');
  expect(shown?.columns.map(({ head }) => head).slice(-4)).toEqual([
    ...['Sep 2025', 'Oct 2025', 'Nov 2025, read in part', 'Dec 2025, not over'],
  ]);
  expect(shown?.gap).toBe('Nov 2025 was not read to its end: more may have been spent.');
  expect(seen('key-figures', 'early')?.gap).toBe(
    'Nov 2025 was not read to its end: more may have been spent.',
  );
  expect(seen('spend-by-month', '')?.gap).toBe(
    `${gone('spend').slice(0, -1)}; Nov 2025 of early was not read to its end: more may have been spent.`,
  );
  expect(seen('spend-by-month', 'whole')?.gap).toBe(gone('spend'));
});

test('recurring revenue says which months are told as of an earlier day', () => {
  expect(seen('recurring-revenue', 'whole')?.gap).toBe(
    'Oct 2025 is told as of 3 Oct, when subscriptions were last read in it: what changed later in it counts in the month that was read next.',
  );
});

test('records that wait for approval of their deletion are told at the head of the page, beside the figures, and by a check', async () => {
  expect(notesOf(dashboard)).toContain(
    'A reconcile found 1 record gone at the source, and every figure still has it: "daybook reconcile whole --approve-deletes" deletes it, "daybook discrepancies whole" says which.',
  );
  for (const id of ['ap-ageing', 'ap-trend', 'cash-requirements'])
    expect(seen(id, 'whole')?.gap, id).toBe(gone('due'));
  expect(seen('key-figures', 'whole')?.gap).toBe(
    `${gone('due').slice(0, -1)}; ${gone('spend').replace('1 D', '1 d')}`,
  );
  expect(seen('ap-ageing', 'early')?.gap).toBeUndefined();
  const [check] = await rows(
    warehouse,
    `select failed_rows::int, sample_ids from marts.data_quality
     where check_name = 'deletion_awaits_approval' and connection_id = 'whole'`,
  );
  expect(check).toEqual({ failed_rows: 1, sample_ids: 'whole 2025-11' });
  expect(await readWaitingDeletions(warehouse, { connectionId: 'whole' })).toEqual([
    { connection_id: 'whole', resource: 'bills', run_id: 'asked', records: 1 },
  ]);
});

test('of many connections three are named', () => {
  const reads = ['a', 'b', 'c', 'd', 'e'].map((name) => ({
    connection_id: name,
    spend_read_until: '2025-10-31',
  }));
  const months = ['2025-09-01', '2025-10-01', '2025-11-01'];
  expect(readMonths(reads, months)).toEqual(months.slice(0, 2));
  expect(unreadWords(reads, { months, connection: '', told: 'left out' })).toEqual([
    'Nov 2025 of a, Nov 2025 of b, Nov 2025 of c and months of 2 more connections were not read to their end: left out',
  ]);
  const late = reads.map((read) => ({ ...read, spend_read_until: '2025-10-30' })).slice(0, 1);
  expect(unreadWords(late, { months, connection: 'a', told: 'left out' })).toEqual([
    'Oct 2025 to Nov 2025 were not read to their end: left out',
  ]);
  expect(unreadWords(reads, { months: months.slice(0, 2), connection: '', told: 'left out' })).toEqual([]);
});

function gone(what: 'due' | 'spend'): string {
  return `1 document that a reconcile found gone at the source is counted until somebody approves the deletion (${what} 7.00).`;
}

function seen(id: string, connection: string) {
  return dashboard.charts
    .find((chart) => chart.id === id)
    ?.views.find((view) => view.connection === connection && view.currency === 'EUR');
}

async function addCompany(
  name: string,
  input: { bills: Readonly<Record<string, number>>; streams?: readonly string[] },
): Promise<void> {
  const { streams = ['bills', 'expenses', 'refunds', 'bill_credit_memos', 'subscriptions'] } = input;
  const connectionId = await addTestConnection(warehouse, name);
  const records = Object.entries(input.bills).map(([month, total]) => {
    const total_amount = String(total);
    return bill(`${name} ${month}`, {
      ...{
        currency_code: '"EUR"',
        currency_rate: 'null',
        issue_date: `"${month}-05"`,
        due_date: `"${month}-25"`,
      },
      ...{ total_amount, amount_due: total_amount, tax_amount: '0' },
      line_items: list(billLine({ total_amount, sub_total: total_amount, tax_amount: '0' })),
    });
  });
  const item = '{"interval": "month", "interval_count": 1, "quantity": 1, "amount": 10, "unit_amount": 10}';
  const revenue = subscription(`${name} s`, {
    status: '"active"',
    iso_currency_code: '"EUR"',
    items: list(item),
  });
  for (const stream of streams) {
    const pages = stream === 'bills' ? [records] : stream === 'subscriptions' ? [[revenue]] : [[]];
    await land(warehouse, { connectionId, stream, pages });
  }
}
