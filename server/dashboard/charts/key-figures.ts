import * as z from 'zod';
import { counted } from '../../frame/counted.ts';
import { amount, isZero, namedAmount, shownAmount, toldAmount, type Decimal } from '../amount.ts';
import { defineChart, type Chart } from '../chart.ts';
import { describeGap } from '../gap.ts';
import { leftOutQueries, withLeftOuts } from '../left-out.ts';
import { dayName, earlierDay, lastOverMonths, monthName } from '../month.ts';
import { unpricedWords } from '../unpriced-words.ts';
import { wholeSum } from '../whole-sum.ts';
import { joinScopes } from '../join-scopes.ts';

/** 0 if there is nothing, null if a part is not known. */
const summedUp = [
  'open_bills',
  'open_credited',
  'overdue',
  'overdue_credited',
  'credits',
  'credits_used',
  'due_in_14_days',
  'dated_ahead',
  'spend_this_month',
  'spend_last_month',
];

function figureSql(figure: string): string {
  return `case when bool_or(figure = '${figure}') then sum(amount) filter (where figure = '${figure}') else 0 end`;
}

const leftOuts = [
  'unknown_status',
  'unknown_credit',
  'unknown_spend',
  'undated',
  'settling',
  'gone_due',
  'gone_ahead_soon',
  'gone_spend',
  'gone_revenue',
] as const;

/** The figures that people ask for first. */
export const keyFigures: Chart = defineChart({
  id: 'key-figures',
  title: 'Key figures',
  about: 'Posted documents as of today; amounts of one currency are never added to those of another.',
  shownAs: 'tiles',
  marts: [
    'ap_ageing',
    'cash_requirements',
    'connections',
    'data_quality',
    'mrr_movements_monthly',
    'subscription_mrr_monthly',
    'vendor_spend_monthly',
    'bills',
    'expenses',
    'ap_open_items',
    'vendor_credits',
    'spend_lines',
    'accounts',
  ],
  sql: `
with today as (
  select date_trunc('month', max(as_of_date))::date as month from marts.connections
),

${leftOutQueries(leftOuts, "between (select month - interval '1 month' from today) and (select month from today)")},

figures as (
  select connection_id, currency_code, 'open_bills' as figure, open_bills as amount
  from marts.ap_ageing where is_today
  union all
  -- Documents that are left out may be the only ones.
  select connection_id, currency_code, 'left_out', 0
  from left_out_documents
  union all
  select connection_id, currency_code, 'overdue', overdue_amount
  from marts.ap_ageing where is_today
  union all
  select connection_id, currency_code, 'credits', unapplied_credits
  from marts.ap_ageing where is_today
  union all
  select connection_id, currency_code, 'open_credited', amount_due_credited
  from marts.cash_requirements where due_bucket <> 'unapplied_credits'
  union all
  select connection_id, currency_code, 'overdue_credited', amount_due_credited
  from marts.cash_requirements where due_bucket = 'overdue'
  union all
  select connection_id, currency_code, 'credits_used', -amount_due_credited -- by bills that they settle later
  from marts.cash_requirements where due_bucket = 'unapplied_credits'
  union all
  select connection_id, currency_code, 'bill_count', 1
  from marts.bills where is_open
  union all
  -- Those below 0, which are to be paid.
  select connection_id, currency_code, 'credit_count', 1
  from marts.ap_open_items where is_today and document_type = 'vendor_credit' and not is_credit
  union all
  select connection_id, currency_code, 'due_in_14_days', -- what credits settle nobody pays
    amount_due - amount_due_credited + dated_ahead - dated_ahead_credited
  from marts.cash_requirements where due_bucket in ('w00', 'w01')
  union all
  select connection_id, currency_code, 'dated_ahead', dated_ahead - dated_ahead_credited
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
  union all
  select connection_id, currency_code, 'recurring_revenue_known', mrr
  from marts.subscription_mrr_monthly as items cross join today
  where items.month = today.month and mrr is not null
  union all
  -- Null in a month that was not observed: it hides no other company's.
  select connection_id, currency_code, 'unpriced', coalesce(unpriced_items, 0)
  from marts.mrr_movements_monthly as moved cross join today
  where moved.month = today.month
  union all
  select connection_id, currency_code, 'unobserved', case when is_observed then 0 else 1 end
  from marts.mrr_movements_monthly as moved cross join today
  where moved.month = today.month
  union all
  select connection_id, currency_code, 'unknown', unknown_count
  from marts.cash_requirements
  union all
  select connection_id, currency_code, 'unknown', unknown_count
  from marts.vendor_spend_monthly cross join today
  where spend_month between month - interval '1 month' and month
),

added as (
  select
    scope.connection_id, currency_code, figure,
    ${wholeSum('amount')} as amount -- null: one of them is not known
  from figures
  ${joinScopes('figures')}
  group by scope.connection_id, currency_code, figure
),

rounded as (
  select scope.connection_id, sum(failed_rows) as records
  from marts.data_quality as quality
  cross join lateral (values (quality.connection_id), (null)) as scope (connection_id)
  where check_name = 'amount_rounded'
  group by scope.connection_id
),

-- The connection whose subscriptions were read longest ago decides.
observed as (
  select scope.connection_id, currency_code, min(observed_until) as until
  from marts.mrr_movements_monthly as moved
  cross join today
  ${joinScopes('moved')}
  where moved.month = today.month
  group by scope.connection_id, currency_code
),

shown as (
select
  added.connection_id as of_scope, -- null: all connections together
  added.currency_code as of_currency,
  coalesce(sum(amount) filter (where figure = 'bill_count'), 0)::bigint as bill_count,
  coalesce(sum(amount) filter (where figure = 'credit_count'), 0)::bigint as credit_count,
${summedUp.map((figure) => `  ${figureSql(figure)} as ${figure},`).join('\n')}
  round(
    100 * sum(amount) filter (where figure = 'overdue')
    / nullif(sum(amount) filter (where figure = 'open_bills'), 0), 1
  ) as overdue_percent,
  bool_or(figure = 'recurring_revenue') as has_subscriptions,
  sum(amount) filter (where figure = 'recurring_revenue') as recurring_revenue,
  sum(amount) filter (where figure = 'recurring_revenue_known') as recurring_revenue_known,
  coalesce(sum(amount) filter (where figure = 'unknown'), 0)::bigint as unknown,
  coalesce(sum(amount) filter (where figure = 'unpriced'), 0)::bigint as unpriced,
  coalesce(sum(amount) filter (where figure = 'unobserved'), 0) > 0 as is_unobserved,
  max(observed.until) as observed_until,
  coalesce(max(rounded.records), 0)::bigint as rounded
from added
left join rounded on coalesce(added.connection_id, '') = coalesce(rounded.connection_id, '')
left join observed
  on
    coalesce(added.connection_id, '') = coalesce(observed.connection_id, '')
    and coalesce(added.currency_code, '') = coalesce(observed.currency_code, '')
group by added.connection_id, added.currency_code
)

${withLeftOuts('bill_count desc, currency_code')}`,
  leftOut: leftOuts,
  nameless: ['bill', 'vendor_credit', 'expense', 'refund', 'subscription'],
  unread: { months: (asOf) => lastOverMonths(asOf, 1), consequence: 'more may have been spent' },
  row: z.object({
    connection_id: z.string().nullable(),
    currency_code: z.string().nullable(),
    bill_count: z.number(),
    credit_count: z.number(),
    open_bills: amount.nullable(),
    open_credited: amount.nullable(),
    overdue: amount.nullable(),
    overdue_credited: amount.nullable(),
    overdue_percent: amount.nullable(),
    credits: amount.nullable(),
    credits_used: amount.nullable(),
    due_in_14_days: amount.nullable(),
    dated_ahead: amount.nullable(),
    spend_this_month: amount.nullable(),
    spend_last_month: amount.nullable(),
    has_subscriptions: z.boolean(),
    recurring_revenue: amount.nullable(),
    recurring_revenue_known: amount.nullable(),
    unknown: z.number(),
    unpriced: z.number(),
    is_unobserved: z.boolean(),
    observed_until: z.string().nullable(),
    rounded: z.number(),
  }),
  view([row], { currency, asOf, utcDay, leftOut }) {
    const columns = [{ head: 'Figure' }, { head: currency, kind: 'number' as const }, { head: 'More' }];
    if (row === undefined) return { sentence: '', columns, rows: [] };
    const shown = (value: Decimal | null): string => shownAmount(value, currency);
    const bills = openWords(row.bill_count, row.credit_count);
    const { overdue_percent: overdue, dated_ahead: ahead, spend_last_month: lastMonth } = row;
    return {
      sentence: `${namedAmount(row.open_bills, currency)} is open in ${bills}.`,
      gap: describeGap({
        unknown: row.unknown,
        more: [
          ...leftOut,
          ...unpricedWords(row.unpriced),
          ...(row.is_unobserved ? [`${notObserved}: recurring revenue is “not known”`] : []),
          ...roundedWords(row.rounded),
        ],
      }),
      columns,
      rows: [
        ['Open bills', shown(row.open_bills), `${bills}${creditedWords(row.open_credited, currency)}`],
        [
          'Overdue',
          shown(row.overdue),
          overdue === null
            ? ''
            : `${overdue} % of what is to be paid${creditedWords(row.overdue_credited, currency)}`,
        ],
        [
          'Due within 14 days',
          shown(row.due_in_14_days),
          `today included${ahead !== null && isZero(ahead) ? '' : `; ${toldAmount(ahead, currency)} of it dated ahead`}`,
        ],
        [
          'Unapplied credits',
          shown(row.credits),
          `and bills below 0 or overpaid; not taken off open bills${usedWords(row.credits_used, currency)}`,
        ],
        [
          `Spend in ${monthName(asOf)}`,
          shown(row.spend_this_month),
          `the month is not over; ${toldAmount(lastMonth, currency)} in the month before`,
        ],
        [
          'Monthly recurring revenue',
          row.has_subscriptions ? shown(row.recurring_revenue) : '–',
          row.has_subscriptions ? recurringWords(row, { currency, utcDay }) : 'no subscriptions',
        ],
      ],
    };
  },
  empty: 'There is nothing in this currency.',
});

/** The open amount that nobody will pay, because credits settle it later. */
function creditedWords(credited: Decimal | null, currency: string): string {
  if (credited !== null && isZero(credited)) return '';
  return `; credits settle ${toldAmount(credited, currency)} of it from a later day on`;
}

/** Amounts due already exclude what credits settle later; subtracting it again would count it twice. */
function usedWords(used: Decimal | null, currency: string): string {
  if (used !== null && isZero(used)) return '';
  return `; ${toldAmount(used, currency)} of it settles bills from a later day on, and cannot be taken off what is due within 14 days`;
}

/** The known part of a revenue that is not known as a whole. */
function recurringWords(
  row: {
    readonly recurring_revenue: Decimal | null;
    readonly recurring_revenue_known: Decimal | null;
    readonly is_unobserved: boolean;
    readonly observed_until: string | null;
  },
  { currency, utcDay }: { currency: string; utcDay: string },
): string {
  const { recurring_revenue: whole, recurring_revenue_known: known, is_unobserved } = row;
  const until = earlierDay(row.observed_until, utcDay);
  const told = `of active subscriptions${until === undefined ? '' : `, as last read on ${dayName(until)}`}`;
  if (whole === null && known !== null)
    return `${told}; ${toldAmount(known, currency)} without those that are not known`;
  return `${told}${is_unobserved ? `; ${notObserved}` : ''}`;
}

const notObserved = 'this month was not observed yet';

/** A credit below 0 is not a bill, but has to be paid like one. */
function openWords(bills: number, credits: number): string {
  if (credits === 0) return counted(bills, 'bill');
  return `${bills === 0 ? '' : `${counted(bills, 'bill')} and `}${counted(credits, 'credit')} below 0`;
}

function roundedWords(records: number): string[] {
  if (records === 0) return [];
  return [
    `amounts of ${counted(records, 'record')}, in whatever currency, have more than 9 decimals and are rounded`,
  ];
}
