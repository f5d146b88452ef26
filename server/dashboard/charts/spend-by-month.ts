import { z } from 'zod';
import { amount, namedAmount, shownAmount } from '../amount.ts';
import { defineChart, type Chart } from '../chart.ts';
import { lastMonths, monthName } from '../month.ts';
import { vendorLabels, vendorsShown } from '../vendor-labels.ts';
import type { Series } from '../view.ts';

/** Where the money went, month by month. */
export const spendByMonth: Chart = defineChart({
  id: 'spend-by-month',
  title: 'Spend by vendor and month',
  about:
    'Posted bills and expenses less refunds and credits, tax included, of the last 24 months: the 15 vendors with most spend and all others.',
  shownAs: 'drawing',
  marts: ['vendor_spend_monthly', 'vendors', 'connections'],
  sql: `
with today as (
  select date_trunc('month', max(as_of_date))::date as month from marts.connections
),

spent as (
  select
    scope.connection_id as scope_id,
    currency_code, spend.connection_id, vendor_id, spend_month, spend
  from marts.vendor_spend_monthly as spend
  inner join today on spend_month between month - interval '23 months' and month
  cross join lateral (values (spend.connection_id), (null)) as scope (connection_id)
),

ranked as (
  select
    scope_id, currency_code, connection_id, vendor_id, vendor_name,
    row_number() over (
      partition by scope_id, currency_code order by sum(spend) desc, connection_id, vendor_id
    ) as place
  from spent
  left join marts.vendors using (connection_id, vendor_id)
  group by scope_id, currency_code, connection_id, vendor_id, vendor_name
)

select
  scope_id as connection_id, -- null: all connections together
  currency_code,
  least(place, 16) as place, -- 16: all other vendors; null: all vendors
  spend_month, -- null: the 24 months together
  max(place) - coalesce(least(place, 16), 1) + 1 as vendors,
  min(vendor_id) as vendor_id,
  min(vendor_name) as vendor_name,
  sum(spend) as spend
from (
  select ranked.*, spend_month, spend
  from spent
  inner join ranked
    on
      spent.connection_id = ranked.connection_id
      and spent.vendor_id = ranked.vendor_id
      and spent.scope_id is not distinct from ranked.scope_id
      and spent.currency_code is not distinct from ranked.currency_code
) as placed
group by grouping sets (
  (scope_id, currency_code, least(place, 16), spend_month),
  (scope_id, currency_code, least(place, 16)),
  (scope_id, currency_code, spend_month),
  (scope_id, currency_code)
)
order by scope_id nulls first, currency_code, place, spend_month`,
  row: z.object({
    connection_id: z.string().nullable(),
    currency_code: z.string().nullable(),
    place: z.number().nullable(),
    spend_month: z.string().nullable(),
    vendors: z.number(),
    vendor_id: z.string(),
    vendor_name: z.string().nullable(),
    spend: amount,
  }),
  view(rows, { currency, asOf }) {
    const months = lastMonths(asOf, 24);
    const sums = rows.filter(({ spend_month }) => spend_month === null);
    const labels = vendorLabels(sums);
    const spends = new Map(rows.map(({ place, spend_month, spend }) => [`${place} ${spend_month}`, spend]));
    const shown = (place: number | null, month: string | null): string =>
      shownAmount(spends.get(`${place} ${month}`) ?? '0', currency);
    return {
      sentence: `${namedAmount(spends.get('null null') ?? '0', currency)} in 24 months, ${shown(null, months[23] ?? '')} of it in ${monthName(asOf)}.`,
      columns: [
        { head: 'Vendor' },
        ...['24 months', ...months.map(monthName)].map((head) => ({ head, kind: 'number' as const })),
      ],
      rows: sums.map(({ place }, index) => [
        labels[index] ?? '',
        ...[null, ...months].map((month) => shown(place, month)),
      ]),
      drawing: {
        kind: 'columns',
        labels: months.map(monthName),
        series: sums.flatMap(({ place }, index) =>
          place === null
            ? []
            : [
                {
                  ...{ name: labels[index] ?? '', ...inkOf(place), shape: 'stacked' as const },
                  values: months.map((month) => shown(place, month)),
                },
              ],
        ),
      },
    };
  },
  empty: 'Nothing was spent in the last 24 months.',
});

/** More than five colours nobody tells apart. */
function inkOf(place: number): Pick<Series, 'colour' | 'legend'> {
  if (place <= 5) return { colour: `vendor-${place}` };
  return place <= vendorsShown ? { colour: 'neutral', legend: 'Next 10 vendors' } : { colour: 'faint' };
}
