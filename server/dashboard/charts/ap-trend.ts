import * as z from 'zod';
import { ageingBuckets } from '../ageing-buckets.ts';
import { amount, drawnAmount, namedAmount, shownAmount, toldAmount, type Decimal } from '../amount.ts';
import { defineChart, type Chart } from '../chart.ts';
import { describeGap } from '../gap.ts';
import { leftOutQueries, withLeftOuts } from '../left-out.ts';
import { dayName, lastMonthEnds, monthName } from '../month.ts';
import { wholeSum } from '../whole-sum.ts';
import { joinScopes } from '../join-scopes.ts';

const leftOuts = [
  'unknown_status',
  'unknown_credit',
  'unexplained',
  'overstated',
  'undated_settlement',
  'gone_open',
  'gone_partly_settled',
  'gone_settled',
] as const;

const inTwoYears =
  ">= (select date_trunc('month', max(as_of_date)) - interval '24 months' from marts.connections)";

/** Whether payables grow, and grow older. */
export const apTrend: Chart = defineChart({
  id: 'ap-trend',
  title: 'Open bills at month ends',
  about:
    'Rolled back from current documents and the dates of their payments and credits: bills that were voided or deleted since are absent. Credits, and bills below 0 or overpaid, are not taken off; a bill without an issue date counts on every day.',
  shownAs: 'drawing',
  marts: ['ap_ageing', 'ap_open_items', 'connections', 'bills', 'vendor_credits'],
  sql: `
with shown as (
select
  scope.connection_id as of_scope, -- null: all connections together
  currency_code as of_currency,
  as_of_date,
  ${wholeSum('not_due')} as not_due,
  ${wholeSum('days_1_30')} as days_1_30,
  ${wholeSum('days_31_60')} as days_31_60,
  ${wholeSum('days_61_90')} as days_61_90,
  ${wholeSum('days_over_90')} as days_over_90,
  ${wholeSum('open_bills_no_due_date')} as no_due_date,
  ${wholeSum('open_bills')} as open_bills,
  sum(unknown_count)::bigint as unknown
from marts.ap_ageing as ageing
${joinScopes('ageing')}
where as_of_date ${inTwoYears}
group by scope.connection_id, currency_code, as_of_date
),

${leftOutQueries(leftOuts, inTwoYears)}

${withLeftOuts('currency_code, as_of_date')}`,
  leftOut: leftOuts,
  nameless: ['bill', 'vendor_credit'],
  row: z.object({
    connection_id: z.string().nullable(),
    currency_code: z.string().nullable(),
    as_of_date: z.string(),
    not_due: amount.nullable(),
    days_1_30: amount.nullable(),
    days_31_60: amount.nullable(),
    days_61_90: amount.nullable(),
    days_over_90: amount.nullable(),
    no_due_date: amount.nullable(),
    open_bills: amount.nullable(),
    unknown: z.number(),
  }),
  view(rows, { currency, asOf, leftOut }) {
    const days = lastMonthEnds(asOf, 24);
    const byDay = new Map(rows.map((row) => [row.as_of_date, row]));
    const of = (day: string, what: keyof Amounts): Decimal | null => {
      const row = byDay.get(day);
      return row === undefined ? '0' : row[what];
    };
    const columns = [...ageingBuckets, { head: 'Open bills', of: 'open_bills' }] as const;
    const [yearBefore = asOf] = lastMonthEnds(asOf, 12);
    return {
      sentence: `${namedAmount(of(asOf, 'open_bills'), currency)} is open today; at the end of ${monthName(yearBefore)} it was ${toldAmount(of(yearBefore, 'open_bills'), currency)}.`,
      gap: describeGap({
        unknown: Math.max(0, ...days.map((day) => byDay.get(day)?.unknown ?? 0)),
        more: leftOut,
      }),
      columns: [{ head: 'Day' }, ...columns.map(({ head }) => ({ head, kind: 'number' as const }))],
      rows: days.map((day) => [day, ...columns.map(({ of: what }) => shownAmount(of(day, what), currency))]),
      drawing: {
        kind: 'columns',
        labels: days.map((day) => (day === asOf ? dayName(day) : monthName(day))),
        series: ageingBuckets.map(({ head, of: what, color }) => ({
          name: head,
          color,
          shape: 'stacked' as const,
          values: days.map((day) => drawnAmount(of(day, what), currency)),
        })),
      },
    };
  },
  empty: 'There were no open bills in the last 24 months.',
});

type Amounts = Record<(typeof ageingBuckets)[number]['of'] | 'open_bills', Decimal | null>;
