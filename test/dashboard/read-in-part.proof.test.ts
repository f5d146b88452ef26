import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { readDashboard, type Dashboard } from '../../server/dashboard/read-dashboard.ts';
import { readMonths, unreadWords } from '../../server/dashboard/unread.ts';
import { notesOf } from '../../server/dashboard/views/headline.tsx';
import { readWaitingDeletions } from '../../warehouse/reconcile/read-waiting-deletions.ts';
import { allocation, bill, billLine, list, subscription, type Fields } from '../support/finance-records.ts';
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
  // Last read on November 15 and on December 10. Expenses and credits of the last company were never read.
  await addCompany('early', { bills: { '2025-11': 20, '2024-11': 100, '2025-10': 50, '2024-10': 40 } });
  await addCompany('whole', { bills: { '2025-11': 7, '2024-11': 5 } });
  await addCompany('begun', { bills: { '2025-10': 900 }, streams: ['bills'] });
  // Its list of bills shows nothing that the service has since November 15.
  const settled = allocation('payment', { allocated_date: '"2025-11-20"', allocated_amount: '30' });
  await addCompany('stuck', {
    currency: 'SEK',
    bills: { '2025-11': 20, '2025-10': 30, '2025-09': 7 },
    fields: { '2025-10': { amount_due: '0', status: '"paid"', linked_payments: list(settled) } },
  });
  await warehouse.pool.query(
    `update sync.streams set last_success_at = read_at::timestamptz
     from (values ('early', '2025-11-15 12:00Z'), ('whole', '2025-12-10 12:00Z'),
       ('stuck', '2025-12-10 12:00Z')) as told (name, read_at)
     where connection_id = name`,
  );
  await warehouse.pool.query(
    `update sync.streams set stalled_at = last_success_at, watermark = '2025-11-15 12:00Z'
     where connection_id = 'stuck' and stream = 'bills'`,
  );
  // Subscriptions of one company were last read on October 3, and next in November.
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
    values ('asked', 'whole', 'reconcile', 'partial', '', '', 'test', now()), ('asked too', 'stuck', 'reconcile', 'partial', '', '', 'test', now());
    insert into sync.run_streams (run_id, connection_id, stream, status, failure_type)
    values ('asked', 'whole', 'bills', 'partial', 'ApprovalNeeded'), ('asked too', 'stuck', 'bills', 'partial', 'ApprovalNeeded');
    insert into sync.discrepancies (connection_id, resource, record_id, kind, status, version, run_id)
    values ('whole', 'bills', 'whole 2025-11', 'extra', 'confirmed', now(), 'asked'),
      ('stuck', 'bills', 'stuck 2025-11', 'extra', 'confirmed', now(), 'asked too'),
      ('stuck', 'bills', 'stuck 2025-10', 'extra', 'confirmed', now(), 'asked too')`);
  await buildMarts(installation, { asOfDate, apiAddress: testApiAddress });
  dashboard = await readDashboard(warehouse);
});

test('a month that was not read to its end is compared with nothing, and the page names it', () => {
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
    sentence:
      'EUR 57.00 from Dec 2024 to Nov 2025 (of some connections to Oct 2025), 45.00 in the same months a year before.',
    gap: `${gone('spend').slice(0, -1)}; Dec 2024 to Nov 2025 of begun, Nov 2025 of early and Nov 2025 of stuck were not read to their end: left out of both years.`,
  });
});

test('the comparison of all connections covers the months read for those with spend in the currency', () => {
  const both = { sentence: 'SEK 37.00 from Dec 2024 to Oct 2025, 0.00 in the same months a year before.' };
  expect(seen('spend-by-vendor', 'stuck', 'SEK')).toMatchObject(both);
  expect(seen('spend-by-vendor', '', 'SEK')).toMatchObject(both);
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
    `${gone('spend').slice(0, -1)}; Jan 2024 to Nov 2025 of begun, Nov 2025 of early and Nov 2025 of stuck were not read to their end: more may have been spent.`,
  );
  expect(seen('spend-by-month', 'whole')?.gap).toBe(gone('spend'));
});

test('spend of a connection with a list that was never read to its end says so', () => {
  const shown = seen('spend-by-month', 'begun');
  expect(shown?.columns.map(({ head }) => head).slice(2)).toEqual([
    ...Array.from(
      { length: 23 },
      () => expect.stringMatching(/^[A-Z][a-z]{2} 202[45], read in part$/) as string,
    ),
    'Dec 2025, not over',
  ]);
  expect(shown?.gap).toBe('Jan 2024 to Nov 2025 were not read to their end: more may have been spent.');
  expect(seen('key-figures', 'begun')?.gap).toBe(
    'Nov 2025 was not read to its end: more may have been spent.',
  );
});

test('a stalled list is named at the head of the page, and its months count as read up to its watermark', () => {
  expect(dashboard.connections.find(({ connection_id: name }) => name === 'stuck')).toMatchObject({
    freshness_status: 'stalled',
    spend_read_until: '2025-11-14',
  });
  expect(notesOf(dashboard)).toContain(
    'A list of stuck has stalled: the service has newer records than it shows, and the figures may lack them. "daybook status stuck" says which list.',
  );
  const health = dashboard.charts.find(({ id }) => id === 'sync-health');
  const bills = health?.views.find(({ connection }) => connection === 'stuck')?.rows[1];
  expect(bills?.slice(1, 3)).toEqual(['bills', { words: 'stalled', tone: 'bad' }]);
});

test('recurring revenue says which months are shown as of an earlier day', () => {
  expect(seen('recurring-revenue', 'whole')?.sentence).toBe(
    'EUR 10.00 on 10 Dec 2025, when subscriptions were last read (the month is not over), from 10.00 at its beginning.',
  );
  expect(seen('key-figures', 'whole')?.rows.at(-1)?.[2]).toBe(
    'of active subscriptions, as last read on 10 Dec',
  );
  expect(seen('recurring-revenue', 'early')?.sentence).toContain('on 16 Dec 2025 (the month is not over)');
  expect(seen('recurring-revenue', 'whole')?.gap).toBe(
    'Oct 2025 is told as of 3 Oct, when subscriptions were last read in it: what changed later in it counts in the month that was read next.',
  );
});

test('records that await approval of their deletion are named at the head of the page, beside figures, and by a check', async () => {
  expect(notesOf(dashboard)).toContain(
    'A reconcile found 3 records gone at the source, and every figure still has them: "daybook reconcile NAME --approve-deletes" deletes them, "daybook discrepancies NAME" says which.',
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

test('documents that await approval of their deletion are named only beside the days and months that have them', () => {
  const due =
    '1 document that a reconcile found gone at the source is counted until somebody approves the deletion (due 20.00)';
  expect(seen('ap-trend', 'stuck', 'SEK')?.gap).toBe(
    `${due}; 1 settled document that a reconcile found gone at the source is counted at past month ends until somebody approves the deletion (open then 30.00).`,
  );
  expect(seen('ap-ageing', 'stuck', 'SEK')?.gap).toBe(`${due}.`);
  // Spend by month counts November's documents, and both years leave them out.
  expect(seen('spend-by-month', 'stuck', 'SEK')?.gap).toContain(
    '2 documents that a reconcile found gone at the source are counted until somebody approves the deletion (spend 50.00)',
  );
  expect(seen('spend-by-vendor', 'stuck', 'SEK')?.gap).toBe(
    '1 document that a reconcile found gone at the source is counted until somebody approves the deletion (spend 30.00); Nov 2025 was not read to its end: left out of both years.',
  );
});

test('the query of docs/marts.md covers the last twelve complete months of each connection', async () => {
  const docs = await readFile(join(import.meta.dirname, '..', '..', 'docs', 'marts.md'), 'utf8');
  const [, query = ''] = /in the last twelve complete months.*\n([^;]*);/.exec(docs) ?? [];
  const spent = await rows(warehouse, query.replace("'USD'", "'EUR'"));
  const byConnection: Record<string, number> = Object.fromEntries(
    spent.map((row) => [String(row.connection_id), Number(row.spend)]),
  );
  // November is incomplete for one company, so its twelve months begin with November of the year before.
  expect(byConnection).toEqual({ early: 150, whole: 7 });
});

test('a sentence about many connections names three of them', () => {
  const reads = ['a', 'b', 'c', 'd', 'e'].map((name) => ({
    connection_id: name,
    spend_read_until: '2025-10-31',
  }));
  const months = ['2025-09-01', '2025-10-01', '2025-11-01'];
  expect(readMonths(reads, months)).toEqual(months.slice(0, 2));
  expect(unreadWords(reads, { months, connection: '', consequence: 'left out' })).toEqual([
    'Nov 2025 of a, Nov 2025 of b, Nov 2025 of c and months of 2 more connections were not read to their end: left out',
  ]);
  const late = reads.map((read) => ({ ...read, spend_read_until: '2025-10-30' })).slice(0, 1);
  expect(unreadWords(late, { months, connection: 'a', consequence: 'left out' })).toEqual([
    'Oct 2025 to Nov 2025 were not read to their end: left out',
  ]);
  expect(unreadWords(reads, { months: months.slice(0, 2), connection: '', consequence: 'left out' })).toEqual(
    [],
  );
});

function gone(what: 'due' | 'spend'): string {
  return `1 document that a reconcile found gone at the source is counted until somebody approves the deletion (${what} 7.00).`;
}

function seen(id: string, connection: string, currency = 'EUR') {
  return dashboard.charts
    .find((chart) => chart.id === id)
    ?.views.find((view) => view.connection === connection && view.currency === currency);
}

async function addCompany(
  name: string,
  input: {
    bills: Readonly<Record<string, number>>;
    streams?: readonly string[];
    currency?: string;
    fields?: Readonly<Record<string, Fields>>;
  },
): Promise<void> {
  const { streams = ['bills', 'expenses', 'refunds', 'bill_credit_memos', 'subscriptions'] } = input;
  const { currency = 'EUR', fields = {} } = input;
  const connectionId = await addTestConnection(warehouse, name);
  const records = Object.entries(input.bills).map(([month, total]) => {
    const total_amount = String(total);
    return bill(`${name} ${month}`, {
      ...{
        currency_code: `"${currency}"`,
        currency_rate: 'null',
        issue_date: `"${month}-05"`,
        due_date: `"${month}-25"`,
      },
      ...{ total_amount, amount_due: total_amount, tax_amount: '0' },
      line_items: list(billLine({ total_amount, sub_total: total_amount, tax_amount: '0' })),
      ...fields[month],
    });
  });
  const item = '{"interval": "month", "interval_count": 1, "quantity": 1, "amount": 10, "unit_amount": 10}';
  const revenue = subscription(`${name} s`, {
    status: '"active"',
    iso_currency_code: `"${currency}"`,
    items: list(item),
  });
  for (const stream of streams) {
    const pages = stream === 'bills' ? [records] : stream === 'subscriptions' ? [[revenue]] : [[]];
    await land(warehouse, { connectionId, stream, pages });
  }
}
