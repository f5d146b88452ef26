import { z } from 'zod';
import { amount, namedAmount, shownAmount, type Decimal } from '../amount.ts';
import { defineChart, type Chart } from '../chart.ts';
import { monthName } from '../month.ts';

/** How monthly recurring revenue moved. */
export const recurringRevenue: Chart = defineChart({
  id: 'recurring-revenue',
  title: 'Monthly recurring revenue',
  about:
    'Active subscriptions per month, and what moved them. Counted from the first month that was observed; a change counts in the month it was recorded.',
  shownAs: 'drawing',
  marts: ['mrr_movements_monthly', 'connections'],
  sql: `
select
  scope.connection_id, -- null: all connections together
  currency_code,
  month,
  bool_and(is_observed) as is_observed, -- of each connection; otherwise nobody knows
  case when bool_and(is_observed) then sum(opening) end as opening,
  case when bool_and(is_observed) then sum(new) end as new,
  case when bool_and(is_observed) then sum(reactivation) end as reactivation,
  case when bool_and(is_observed) then sum(expansion) end as expansion,
  case when bool_and(is_observed) then sum(contraction) end as contraction,
  case when bool_and(is_observed) then sum(churn) end as churn,
  case when bool_and(is_observed) then sum(closing) end as closing
from marts.mrr_movements_monthly as moved
cross join lateral (values (moved.connection_id), (null)) as scope (connection_id)
where month > (select max(as_of_date) - interval '24 months' from marts.connections)
group by scope.connection_id, currency_code, month
order by scope.connection_id nulls first, currency_code, month`,
  row: z.object({
    connection_id: z.string().nullable(),
    currency_code: z.string().nullable(),
    month: z.string(),
    is_observed: z.boolean(),
    opening: amount.nullable(),
    new: amount.nullable(),
    reactivation: amount.nullable(),
    expansion: amount.nullable(),
    contraction: amount.nullable(),
    churn: amount.nullable(),
    closing: amount.nullable(),
  }),
  view(rows, { currency }) {
    const byMonth = new Map(rows.map((row) => [row.month, row]));
    const months = rows.map(({ month }) => month);
    const shown = (month: string, of: keyof Amounts): string | null => {
      const value = byMonth.get(month)?.[of] ?? null;
      return value === null ? null : shownAmount(value, currency);
    };
    const last = rows.at(-1);
    const columns = [
      { head: 'Opening', of: 'opening' },
      ...movements,
      { head: 'Closing', of: 'closing' },
    ] as const;
    return {
      sentence:
        last === undefined || last.closing === null
          ? 'This month was not observed yet.'
          : `${namedAmount(last.closing, currency)} at the end of ${monthName(last.month)}, from ${shownAmount(last.opening, currency)} at its beginning.`,
      columns: [{ head: 'Month' }, ...columns.map(({ head }) => ({ head, kind: 'number' as const }))],
      rows: rows.map(({ month }) => [
        monthName(month),
        ...columns.map(({ of }) => shown(month, of) ?? 'not observed'),
      ]),
      drawing: {
        kind: 'columns',
        labels: months.map(monthName),
        series: [
          ...movements.map(({ head, of, colour }) => ({
            ...{ name: head, colour, shape: 'stacked' as const },
            values: months.map((month) => shown(month, of)),
          })),
          {
            ...{ name: 'Closing (right axis)', colour: 'line', shape: 'line' as const },
            values: months.map((month) => shown(month, 'closing')),
          },
        ],
      },
    };
  },
  empty: 'There are no subscriptions.',
});

type Amounts = Record<(typeof movements)[number]['of'] | 'opening' | 'closing', Decimal | null>;

const movements = [
  { head: 'New', of: 'new', colour: 'gain-1' },
  { head: 'Reactivation', of: 'reactivation', colour: 'gain-2' },
  { head: 'Expansion', of: 'expansion', colour: 'gain-3' },
  { head: 'Contraction', of: 'contraction', colour: 'loss-1' },
  { head: 'Churn', of: 'churn', colour: 'loss-2' },
] as const;
