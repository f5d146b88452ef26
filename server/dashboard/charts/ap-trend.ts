import { z } from 'zod';
import { amount, namedAmount, shownAmount } from '../amount.ts';
import { defineChart, type Chart } from '../chart.ts';
import { dayName, lastMonthEnds, monthName } from '../month.ts';

/** Whether what is owed grows, and grows older. */
export const apTrend: Chart = defineChart({
  id: 'ap-trend',
  title: 'Open bills at month ends',
  about:
    'Rolled back from current documents: bills that were voided or deleted since are absent. Credits are not taken off.',
  shownAs: 'drawing',
  marts: ['ap_ageing', 'connections'],
  sql: `
select
  scope.connection_id, -- null: all connections together
  currency_code,
  as_of_date,
  sum(not_due) as not_due,
  sum(days_1_30) as days_1_30,
  sum(days_31_60) as days_31_60,
  sum(days_61_90) as days_61_90,
  sum(days_over_90) as days_over_90,
  sum(no_due_date - unapplied_credits) as no_due_date,
  sum(total_open - unapplied_credits) as open_bills
from marts.ap_ageing as ageing
cross join lateral (values (ageing.connection_id), (null)) as scope (connection_id)
where as_of_date >= (select date_trunc('month', max(as_of_date)) - interval '24 months' from marts.connections)
group by scope.connection_id, currency_code, as_of_date
order by scope.connection_id nulls first, currency_code, as_of_date`,
  row: z.object({
    connection_id: z.string().nullable(),
    currency_code: z.string().nullable(),
    as_of_date: z.string(),
    not_due: amount,
    days_1_30: amount,
    days_31_60: amount,
    days_61_90: amount,
    days_over_90: amount,
    no_due_date: amount,
    open_bills: amount,
  }),
  view(rows, { currency, asOf }) {
    const days = lastMonthEnds(asOf, 24);
    const byDay = new Map(rows.map((row) => [row.as_of_date, row]));
    const shown = (day: string, of: keyof Amounts): string =>
      shownAmount(byDay.get(day)?.[of] ?? '0', currency);
    const columns = [...buckets, { head: 'Open bills', of: 'open_bills' }] as const;
    const [yearBefore = asOf] = lastMonthEnds(asOf, 12);
    return {
      sentence: `${namedAmount(byDay.get(asOf)?.open_bills ?? '0', currency)} is open today; at the end of ${monthName(yearBefore)} it was ${shown(yearBefore, 'open_bills')}.`,
      columns: [{ head: 'Day' }, ...columns.map(({ head }) => ({ head, kind: 'number' as const }))],
      rows: days.map((day) => [day, ...columns.map(({ of }) => shown(day, of))]),
      drawing: {
        kind: 'columns',
        labels: days.map((day) => (day === asOf ? dayName(day) : monthName(day))),
        series: buckets.map(({ head, of, colour }) => ({
          ...{ name: head, colour, shape: 'stacked' as const },
          values: days.map((day) => shown(day, of)),
        })),
      },
    };
  },
  empty: 'There were no open bills in the last 24 months.',
});

type Amounts = Record<(typeof buckets)[number]['of'] | 'open_bills', string>;

const buckets = [
  { head: 'Not due', of: 'not_due', colour: 'age-0' },
  { head: '1–30 days', of: 'days_1_30', colour: 'age-1' },
  { head: '31–60 days', of: 'days_31_60', colour: 'age-2' },
  { head: '61–90 days', of: 'days_61_90', colour: 'age-3' },
  { head: 'Over 90 days', of: 'days_over_90', colour: 'age-4' },
  { head: 'No due date', of: 'no_due_date', colour: 'neutral' },
] as const;
