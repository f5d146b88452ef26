import * as z from 'zod';
import { counted } from '../../frame/counted.ts';
import { ageingBuckets } from '../ageing-buckets.ts';
import { amount, drawnAmount, namedAmount, shownAmount } from '../amount.ts';
import { defineChart, type Chart } from '../chart.ts';
import { describeGap } from '../gap.ts';
import { leftOutQueries, withLeftOuts } from '../left-out.ts';
import { vendorLabels } from '../vendor-labels.ts';
import { wholeSum } from '../whole-sum.ts';
import { joinScopes } from '../join-scopes.ts';

const leftOuts = ['unknown_status', 'unknown_credit', 'gone_due'] as const;

/** How much is owed to each vendor, and how long it has been due. */
export const apAgeing: Chart = defineChart({
  id: 'ap-ageing',
  title: 'Accounts payable by age',
  about:
    'Open bills by days past due, the 15 vendors with most open and all others; credits, and bills below 0 or overpaid, stand left of the axis.',
  shownAs: 'drawing',
  marts: ['ap_ageing', 'vendors', 'bills', 'vendor_credits'],
  sql: `
with ranked as (
  select
    scope.connection_id as scope_id,
    ageing.*,
    row_number() over (
      partition by scope.connection_id, ageing.currency_code
      order by ageing.open_bills desc nulls first, ageing.total_open desc nulls first, ageing.connection_id, ageing.vendor_id
    ) as place
  from marts.ap_ageing as ageing
  ${joinScopes('ageing')}
  where ageing.is_today
),

shown as (
select
  scope_id as of_scope, -- null: all connections together
  currency_code as of_currency,
  least(place, 16) as place, -- 16: all other vendors; null: all vendors
  count(*) as vendors,
  count(*) filter (where total_open > 0 or total_open is null) as owed,
  count(*) filter (where total_open < 0) as owing,
  min(ranked.connection_id) as vendor_connection_id,
  min(vendor_id) as vendor_id,
  min(vendor_name) as vendor_name,
  ${wholeSum('not_due')} as not_due,
  ${wholeSum('days_1_30')} as days_1_30,
  ${wholeSum('days_31_60')} as days_31_60,
  ${wholeSum('days_61_90')} as days_61_90,
  ${wholeSum('days_over_90')} as days_over_90,
  ${wholeSum('open_bills_no_due_date')} as no_due_date,
  ${wholeSum('unapplied_credits')} as credits,
  ${wholeSum('total_open')} as balance,
  ${wholeSum('overdue_amount')} as overdue,
  sum(unknown_count)::bigint as unknown
from ranked
left join marts.vendors using (connection_id, vendor_id)
group by grouping sets ((scope_id, currency_code, least(place, 16)), (scope_id, currency_code))
),

${leftOutQueries(leftOuts)}

${withLeftOuts('currency_code, place')}`,
  leftOut: leftOuts,
  nameless: ['bill', 'vendor_credit'],
  row: z.object({
    connection_id: z.string().nullable(),
    currency_code: z.string().nullable(),
    place: z.number().nullable(),
    vendors: z.number(),
    owed: z.number(),
    owing: z.number(),
    vendor_connection_id: z.string(),
    vendor_id: z.string(),
    vendor_name: z.string().nullable(),
    not_due: amount.nullable(),
    days_1_30: amount.nullable(),
    days_31_60: amount.nullable(),
    days_61_90: amount.nullable(),
    days_over_90: amount.nullable(),
    no_due_date: amount.nullable(),
    credits: amount.nullable(),
    balance: amount.nullable(),
    overdue: amount.nullable(),
    unknown: z.number(),
  }),
  view(rows, { currency, leftOut }) {
    const labels = vendorLabels(rows);
    const vendors = rows.filter(({ place }) => place !== null);
    const total = rows.find(({ place }) => place === null) ?? nothing;
    const columns = [...buckets, { head: 'Balance', of: 'balance' }] as const;
    return {
      sentence: `${namedAmount(total.balance, currency)} is owed net of credits: ${owedWords(total.owed, total.owing)}; ${namedAmount(total.overdue, currency)} is overdue.`,
      gap: describeGap({ unknown: total.unknown, more: leftOut }),
      columns: [
        { head: 'Vendor' },
        ...columns.map(({ head }) => ({ head, kind: 'number' as const })),
        { head: 'Vendor ID', kind: 'code' },
      ],
      rows: rows.map((row, index) => [
        labels[index] ?? '',
        ...columns.map(({ of }) => shownAmount(row[of], currency)),
        row.vendors === 1 ? row.vendor_id : '',
      ]),
      drawing: {
        kind: 'bars',
        labels: labels.slice(0, vendors.length),
        series: buckets.map(({ head, of, color }) => ({
          name: head,
          color,
          shape: 'stacked' as const,
          values: vendors.map((row) => drawnAmount(row[of], currency)),
        })),
      },
    };
  },
  empty: 'There are no open bills or credits.',
});

/** The totals if everything is left out. */
const nothing = { balance: '0', overdue: '0', owed: 0, owing: 0, unknown: 0 } as const;

/** A vendor whose credits are more than its bills owes us. */
function owedWords(owed: number, owing: number): string {
  const ours = counted(owed, 'vendor is owed', 'vendors are owed');
  return owing === 0 ? ours : `${ours}, ${counted(owing, 'owes us', 'owe us')}`;
}

const buckets = [...ageingBuckets, { head: 'Unapplied credits', of: 'credits', color: 'credit' }] as const;
