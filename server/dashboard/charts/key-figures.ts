import { z } from 'zod';
import { amount, namedAmount, shownAmount, type Decimal } from '../amount.ts';
import { defineChart, type Chart } from '../chart.ts';
import { monthName } from '../month.ts';

/** What somebody asks first. */
export const keyFigures: Chart = defineChart({
  id: 'key-figures',
  title: 'Key figures',
  about: 'Posted documents as of today; amounts of one currency are never added to those of another.',
  shownAs: 'tiles',
  marts: ['ap_ageing', 'cash_requirements', 'connections', 'mrr_movements_monthly', 'vendor_spend_monthly'],
  sql: `
with today as (
  select date_trunc('month', max(as_of_date))::date as month from marts.connections
),

figures as (
  select connection_id, currency_code, 'open_bills' as figure, total_open - unapplied_credits as amount
  from marts.ap_ageing where is_today
  union all
  select connection_id, currency_code, 'overdue', overdue_amount
  from marts.ap_ageing where is_today
  union all
  select connection_id, currency_code, 'credits', unapplied_credits
  from marts.ap_ageing where is_today
  union all
  select connection_id, currency_code, 'bill_count', document_count
  from marts.cash_requirements where due_bucket <> 'unapplied_credits'
  union all
  select connection_id, currency_code, 'due_in_14_days', amount_due
  from marts.cash_requirements where due_bucket in ('w00', 'w01')
  union all
  select
    connection_id, currency_code,
    case spend_month
      when month then 'spend_this_month'
      when month - interval '1 month' then 'spend_last_month'
      else 'spend_before'
    end,
    spend
  from marts.vendor_spend_monthly cross join today
  union all
  select
    connection_id, currency_code,
    case moved.month when today.month then 'recurring_revenue' else 'recurring_revenue_before' end,
    closing
  from marts.mrr_movements_monthly as moved cross join today
),

added as (
  select connection_id, currency_code, figure, sum(amount) as amount
  from figures
  group by connection_id, currency_code, figure
)

select
  scope.connection_id, -- null: all connections together
  currency_code,
  coalesce(sum(amount) filter (where figure = 'bill_count'), 0)::bigint as bill_count,
  coalesce(sum(amount) filter (where figure = 'open_bills'), 0) as open_bills,
  coalesce(sum(amount) filter (where figure = 'overdue'), 0) as overdue,
  round(
    100 * sum(amount) filter (where figure = 'overdue')
    / nullif(sum(amount) filter (where figure = 'open_bills'), 0), 1
  ) as overdue_percent,
  coalesce(sum(amount) filter (where figure = 'credits'), 0) as credits,
  coalesce(sum(amount) filter (where figure = 'due_in_14_days'), 0) as due_in_14_days,
  coalesce(sum(amount) filter (where figure = 'spend_this_month'), 0) as spend_this_month,
  coalesce(sum(amount) filter (where figure = 'spend_last_month'), 0) as spend_last_month,
  sum(amount) filter (where figure = 'recurring_revenue') as recurring_revenue
from added
cross join lateral (values (added.connection_id), (null)) as scope (connection_id)
group by scope.connection_id, currency_code
order by scope.connection_id nulls first, bill_count desc, currency_code`,
  row: z.object({
    connection_id: z.string().nullable(),
    currency_code: z.string().nullable(),
    bill_count: z.number(),
    open_bills: amount,
    overdue: amount,
    overdue_percent: amount.nullable(),
    credits: amount,
    due_in_14_days: amount,
    spend_this_month: amount,
    spend_last_month: amount,
    recurring_revenue: amount.nullable(),
  }),
  view([row], { currency, asOf }) {
    const columns = [{ head: 'Figure' }, { head: currency, kind: 'number' as const }, { head: 'More' }];
    if (row === undefined) return { sentence: '', columns, rows: [] };
    const shown = (value: Decimal): string => shownAmount(value, currency);
    const bills = row.bill_count.toLocaleString('en-US');
    const { overdue_percent: overdue, recurring_revenue: revenue } = row;
    return {
      sentence: `${namedAmount(row.open_bills, currency)} is open in ${bills} bills.`,
      columns,
      rows: [
        ['Open bills', shown(row.open_bills), `${bills} bills`],
        ['Overdue', shown(row.overdue), overdue === null ? '' : `${overdue} % of open bills`],
        ['Due within 14 days', shown(row.due_in_14_days), 'today included'],
        ['Unapplied credits', shown(row.credits), 'not taken off open bills'],
        [
          ...[`Spend in ${monthName(asOf)}`, shown(row.spend_this_month)],
          `${shown(row.spend_last_month)} in the month before`,
        ],
        [
          ...['Monthly recurring revenue', revenue === null ? '–' : shown(revenue)],
          revenue === null ? 'no subscriptions' : 'of active subscriptions',
        ],
      ],
    };
  },
  empty: 'There is nothing in this currency.',
});
