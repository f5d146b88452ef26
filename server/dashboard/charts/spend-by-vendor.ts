import { z } from 'zod';
import { amount, namedAmount, shownAmount } from '../amount.ts';
import { defineChart, type Chart } from '../chart.ts';
import { vendorLabels } from '../vendor-labels.ts';

/** Who the money went to, and whether it was more than before. */
export const spendByVendor: Chart = defineChart({
  id: 'spend-by-vendor',
  title: 'Spend by vendor, year on year',
  about:
    'The last 12 months, the current one included, beside the 12 before: the 15 vendors with most spend and all others.',
  shownAs: 'drawing',
  marts: ['vendor_spend_monthly', 'vendors', 'connections'],
  sql: `
with today as (
  select date_trunc('month', max(as_of_date))::date as month from marts.connections
),

spent as (
  select
    scope.connection_id as scope_id,
    currency_code, spend.connection_id, vendor_id,
    coalesce(sum(spend) filter (where spend_month > month - interval '12 months'), 0) as this_year,
    coalesce(sum(spend) filter (where spend_month <= month - interval '12 months'), 0) as year_before
  from marts.vendor_spend_monthly as spend
  inner join today on spend_month between month - interval '23 months' and month
  cross join lateral (values (spend.connection_id), (null)) as scope (connection_id)
  group by scope.connection_id, currency_code, spend.connection_id, vendor_id
),

ranked as (
  select
    *,
    row_number() over (
      partition by scope_id, currency_code order by this_year desc, connection_id, vendor_id
    ) as place
  from spent
)

select
  scope_id as connection_id, -- null: all connections together
  currency_code,
  least(place, 16) as place, -- 16: all other vendors; null: all vendors
  count(*) as vendors,
  min(vendor_id) as vendor_id,
  min(vendor_name) as vendor_name,
  sum(this_year) as this_year,
  sum(year_before) as year_before
from ranked
left join marts.vendors using (connection_id, vendor_id)
group by grouping sets ((scope_id, currency_code, least(place, 16)), (scope_id, currency_code))
order by scope_id nulls first, currency_code, place`,
  row: z.object({
    connection_id: z.string().nullable(),
    currency_code: z.string().nullable(),
    place: z.number().nullable(),
    vendors: z.number(),
    vendor_id: z.string(),
    vendor_name: z.string().nullable(),
    this_year: amount,
    year_before: amount,
  }),
  view(rows, { currency }) {
    const labels = vendorLabels(rows);
    const vendors = rows.filter(({ place }) => place !== null);
    const total = rows.find(({ place }) => place === null);
    return {
      sentence:
        total === undefined
          ? ''
          : `${namedAmount(total.this_year, currency)} in 12 months, ${shownAmount(total.year_before, currency)} in the 12 before.`,
      columns: [
        { head: 'Vendor' },
        { head: '12 months', kind: 'number' },
        { head: '12 before', kind: 'number' },
        { head: 'Vendor ID', kind: 'code' },
      ],
      rows: rows.map((row, index) => [
        labels[index] ?? '',
        shownAmount(row.this_year, currency),
        shownAmount(row.year_before, currency),
        row.vendors === 1 ? row.vendor_id : '',
      ]),
      drawing: {
        kind: 'bars',
        labels: labels.slice(0, vendors.length),
        series: [
          {
            ...{ name: '12 months', colour: 'vendor-1', shape: 'beside' as const },
            values: vendors.map(({ this_year }) => shownAmount(this_year, currency)),
          },
          {
            ...{ name: '12 before', colour: 'neutral', shape: 'beside' as const },
            values: vendors.map(({ year_before }) => shownAmount(year_before, currency)),
          },
        ],
      },
    };
  },
  empty: 'Nothing was spent in the last 24 months.',
});
