import * as z from 'zod';
import { amount, drawnAmount, namedAmount, shownAmount, toldAmount, type Decimal } from '../amount.ts';
import { defineChart, type Chart } from '../chart.ts';
import { describeGap } from '../gap.ts';
import { lastMonths, lastOverMonths, monthName } from '../month.ts';
import { readMonths } from '../unread.ts';
import { leftOutQueries, withLeftOuts } from '../left-out.ts';
import { vendorLabels, vendorsShown } from '../vendor-labels.ts';
import type { Series } from '../view.ts';
import { wholeSum } from '../whole-sum.ts';
import { joinScopes } from '../join-scopes.ts';
import { spendMarts } from '../spend-marts.ts';

const leftOuts = ['unknown_spend', 'undated', 'settling', 'gone_spend'] as const;

/** Spend by vendor, month by month. */
export const spendByMonth: Chart = defineChart({
  id: 'spend-by-month',
  title: 'Spend by vendor and month',
  about:
    'Posted bills and expenses less refunds and credits, tax included, dated up to today, of the last 24 months: the 15 vendors with most spend and all others.',
  shownAs: 'drawing',
  marts: spendMarts,
  sql: `
with today as (
  select date_trunc('month', max(as_of_date))::date as month from marts.connections
),

spent as (
  select
    scope.connection_id as scope_id,
    currency_code, spend.connection_id, vendor_id, spend_month, spend, unknown_count
  from marts.vendor_spend_monthly as spend
  inner join today on spend_month between month - interval '23 months' and month
  ${joinScopes('spend')}
),

ranked as (
  select
    scope_id, currency_code, connection_id, vendor_id, vendor_name,
    row_number() over (
      partition by scope_id, currency_code order by ${wholeSum('spend')} desc nulls first, connection_id, vendor_id
    ) as place
  from spent
  left join marts.vendors using (connection_id, vendor_id)
  group by scope_id, currency_code, connection_id, vendor_id, vendor_name
),

shown as (
select
  scope_id as of_scope, -- null: all connections together
  currency_code as of_currency,
  least(place, 16) as place, -- 16: all other vendors; null: all vendors
  spend_month, -- null: the 24 months together
  max(place) - coalesce(least(place, 16), 1) + 1 as vendors,
  min(connection_id) as vendor_connection_id,
  min(vendor_id) as vendor_id,
  min(vendor_name) as vendor_name,
  ${wholeSum('spend')} as spend,
  sum(unknown_count)::bigint as unknown
from (
  select ranked.*, spend_month, spend, unknown_count
  from spent
  inner join ranked
    on
      spent.connection_id = ranked.connection_id
      and spent.vendor_id = ranked.vendor_id
      -- Null is none; by "is not distinct from" each would be compared with each.
      and coalesce(spent.scope_id, '') = coalesce(ranked.scope_id, '')
      and coalesce(spent.currency_code, '') = coalesce(ranked.currency_code, '')
) as placed
group by grouping sets (
  (scope_id, currency_code, least(place, 16), spend_month),
  (scope_id, currency_code, least(place, 16)),
  (scope_id, currency_code, spend_month),
  (scope_id, currency_code)
)
),

${leftOutQueries(leftOuts, "between (select month - interval '23 months' from today) and (select month from today)")}

${withLeftOuts('currency_code, place, spend_month')}`,
  leftOut: leftOuts,
  nameless: ['bill', 'vendor_credit', 'expense', 'refund'],
  unread: { months: (asOf) => lastOverMonths(asOf, 23), consequence: 'more may have been spent' },
  row: z.object({
    connection_id: z.string().nullable(),
    currency_code: z.string().nullable(),
    place: z.number().nullable(),
    spend_month: z.string().nullable(),
    vendors: z.number(),
    vendor_connection_id: z.string(),
    vendor_id: z.string(),
    vendor_name: z.string().nullable(),
    spend: amount.nullable(),
    unknown: z.number(),
  }),
  view(rows, { currency, asOf, leftOut, reads }) {
    const months = lastMonths(asOf, 24);
    const sums = rows.filter(({ spend_month }) => spend_month === null);
    const labels = vendorLabels(sums);
    const rowOf = new Map(rows.map((row) => [`${row.place} ${row.spend_month}`, row]));
    const of = (place: number | null, month: string | null): Decimal | null => {
      const row = rowOf.get(`${place} ${month}`);
      return row === undefined ? '0' : row.spend;
    };
    // Documents dated later in the month are not in it yet.
    const known = new Set(readMonths(reads, months));
    const label = (month: string): string => {
      if (month === months[23]) return `${monthName(month)}, not over`;
      return known.has(month) ? monthName(month) : `${monthName(month)}, read in part`;
    };
    return {
      sentence: `${namedAmount(of(null, null), currency)} in 24 months, ${toldAmount(of(null, months[23] ?? ''), currency)} of it in ${monthName(asOf)}, which is not over.`,
      gap: describeGap({ unknown: rowOf.get('null null')?.unknown ?? 0, more: leftOut }),
      columns: [
        { head: 'Vendor' },
        ...['24 months', ...months.map(label)].map((head) => ({ head, kind: 'number' as const })),
      ],
      rows: sums.map(({ place }, index) => [
        labels[index] ?? '',
        ...[null, ...months].map((month) => shownAmount(of(place, month), currency)),
      ]),
      drawing: {
        kind: 'columns',
        labels: months.map(label),
        series: sums.flatMap(({ place }, index) =>
          place === null
            ? []
            : [
                {
                  name: labels[index] ?? '',
                  ...vendorInk(place),
                  shape: 'stacked' as const,
                  values: months.map((month) => drawnAmount(of(place, month), currency)),
                },
              ],
        ),
      },
    };
  },
  empty: 'Nothing was spent in the last 24 months.',
});

/** More than five colors cannot be told apart. */
function vendorInk(place: number): Pick<Series, 'color' | 'legend'> {
  if (place <= 5) return { color: `vendor-${place}` };
  return place <= vendorsShown ? { color: 'neutral', legend: 'Next 10 vendors' } : { color: 'faint' };
}
