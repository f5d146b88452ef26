import * as z from 'zod';
import { amount, drawnAmount, namedAmount, shownAmount, toldAmount } from '../amount.ts';
import { defineChart, type Chart } from '../chart.ts';
import { describeGap } from '../gap.ts';
import { leftOutQueries, withLeftOuts } from '../left-out.ts';
import { lastOverMonths, monthName } from '../month.ts';
import { readMonths, type Read } from '../unread.ts';
import { vendorLabels } from '../vendor-labels.ts';
import { wholeSum } from '../whole-sum.ts';
import { joinScopes } from '../join-scopes.ts';
import { spendMarts } from '../spend-marts.ts';

const leftOuts = ['unknown_spend', 'undated', 'settling', 'gone_spend'] as const;

/** A condition on `spend_month`: only the months that are compared. */
const ofMonthsRead = `between (select month - interval '23 months' from last_over) and (select month from last_over)
      and exists (
        select from reads, last_over
        where reads.connection_id = lines.connection_id
          and case when lines.spend_month > month - interval '12 months'
            then lines.spend_month else lines.spend_month + interval '12 months' end <= read_month
      )`;

/** Spend by vendor, compared with the year before. */
export const spendByVendor: Chart = defineChart({
  id: 'spend-by-vendor',
  title: 'Spend by vendor, year on year',
  about:
    'The last 12 months that are over beside the 12 before: the 15 vendors with most spend and all others. A month that was not read to its end is compared with nothing.',
  shownAs: 'drawing',
  marts: spendMarts,
  sql: `
with last_over as (
  select (date_trunc('month', max(as_of_date)) - interval '1 month')::date as month from marts.connections
),

-- For each connection, the last month that was over when its spend was last read.
reads as (
  select connection_id, (date_trunc('month', spend_read_until + 1) - interval '1 month')::date as read_month
  from marts.connections
  where spend_read_until is not null
),

-- A month that is not known to its end is compared with nothing, nor is what it would be compared with.
monthly as (
  select spend.*, spend_month > month - interval '12 months' as is_this_year
  from marts.vendor_spend_monthly as spend
  inner join last_over on spend_month between month - interval '23 months' and month
  inner join reads
    on
      spend.connection_id = reads.connection_id
      and case when spend_month > month - interval '12 months' then spend_month else spend_month + interval '12 months' end
      <= read_month
),

spent as (
  select
    scope.connection_id as scope_id,
    currency_code, spend.connection_id, vendor_id,
    case when bool_and(spend is not null or not is_this_year)
      then coalesce(sum(spend) filter (where is_this_year), 0) end as this_year,
    case when bool_and(spend is not null or is_this_year)
      then coalesce(sum(spend) filter (where not is_this_year), 0) end as year_before,
    sum(unknown_count) as unknown
  from monthly as spend
  ${joinScopes('spend')}
  group by scope.connection_id, currency_code, spend.connection_id, vendor_id
),

ranked as (
  select
    *,
    row_number() over (
      partition by scope_id, currency_code order by this_year desc nulls first, connection_id, vendor_id
    ) as place
  from spent
),

shown as (
select
  scope_id as of_scope, -- null: all connections together
  currency_code as of_currency,
  least(place, 16) as place, -- 16: all other vendors; null: all vendors
  count(*) as vendors,
  json_agg(distinct connection_id)::text as connections,
  min(connection_id) as vendor_connection_id,
  min(vendor_id) as vendor_id,
  min(vendor_name) as vendor_name,
  ${wholeSum('this_year')} as this_year,
  ${wholeSum('year_before')} as year_before,
  sum(unknown)::bigint as unknown
from ranked
left join marts.vendors using (connection_id, vendor_id)
group by grouping sets ((scope_id, currency_code, least(place, 16)), (scope_id, currency_code))
),

${leftOutQueries(leftOuts, ofMonthsRead)}

${withLeftOuts('currency_code, place')}`,
  leftOut: leftOuts,
  nameless: ['bill', 'vendor_credit', 'expense', 'refund'],
  unread: {
    months: (asOf) => lastOverMonths(asOf, 12),
    consequence: 'left out of both years',
  },
  row: z.object({
    connection_id: z.string().nullable(),
    currency_code: z.string().nullable(),
    place: z.number().nullable(),
    vendors: z.number(),
    connections: z
      .string()
      .transform((text): unknown => JSON.parse(text))
      .pipe(z.array(z.string())),
    vendor_connection_id: z.string(),
    vendor_id: z.string(),
    vendor_name: z.string().nullable(),
    this_year: amount.nullable(),
    year_before: amount.nullable(),
    unknown: z.number(),
  }),
  view(rows, { currency, asOf, leftOut, reads }) {
    const labels = vendorLabels(rows);
    const vendors = rows.filter(({ place }) => place !== null);
    const total = rows.find(({ place }) => place === null) ?? nothing;
    const compared = comparedWords(reads, { connections: total.connections, asOf });
    return {
      sentence:
        compared === undefined
          ? 'None of the last 12 months was read to its end.'
          : `${namedAmount(total.this_year, currency)} ${compared.months}, ${toldAmount(total.year_before, currency)} in the ${compared.before}.`,
      gap: describeGap({ unknown: total.unknown, more: leftOut }),
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
            name: '12 months',
            color: 'vendor-1',
            shape: 'beside' as const,
            values: vendors.map(({ this_year }) => drawnAmount(this_year, currency)),
          },
          {
            name: '12 before',
            color: 'neutral',
            shape: 'beside' as const,
            values: vendors.map(({ year_before }) => drawnAmount(year_before, currency)),
          },
        ],
      },
    };
  },
  empty: 'Nothing was spent in the last 24 complete months.',
});

/** The totals if everything is left out. */
const nothing = { this_year: '0', year_before: '0', unknown: 0, connections: undefined } as const;

/**
 * Returns the months that are compared: for each connection with figures, the months that were read to their end. If some were not, the gap
 * says which. Undefined if there are none.
 */
function comparedWords(
  reads: readonly Read[],
  { connections, asOf }: { connections: readonly string[] | undefined; asOf: string },
): { months: string; before: string } | undefined {
  const over = lastOverMonths(asOf, 12);
  const counted = reads.filter(
    (read) => readMonths([read], over).length > 0 && (connections?.includes(read.connection_id) ?? true),
  );
  const lasts = counted.map((read) => readMonths([read], over).at(-1) ?? '').sort();
  const [first, earliest, last] = [over[0], lasts[0], lasts.at(-1)];
  if (first === undefined || earliest === undefined || last === undefined) return undefined;
  const some = earliest === last ? '' : ` (of some connections to ${monthName(earliest)})`;
  return {
    months: `from ${monthName(first)} to ${monthName(last)}${some}`,
    before: earliest === over.at(-1) ? '12 months before' : 'same months a year before',
  };
}
