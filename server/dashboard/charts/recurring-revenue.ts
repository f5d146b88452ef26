import * as z from 'zod';
import { amount, namedAmount, shownAmount, toldAmount, type Decimal } from '../amount.ts';
import { defineChart, type Chart } from '../chart.ts';
import { describeGap } from '../gap.ts';
import { leftOutQueries, withLeftOuts } from '../left-out.ts';
import { dayName, earlierDay, fullDayName, monthEnd, monthName } from '../month.ts';
import { unknownMoveWords } from '../unknown-move-words.ts';
import { unpricedWords } from '../unpriced-words.ts';
import { wholeSum } from '../whole-sum.ts';
import { joinScopes } from '../join-scopes.ts';

const names = z
  .string()
  .transform((text): unknown => JSON.parse(text))
  .pipe(z.array(z.string()));

const leftOuts = ['gone_revenue'] as const;

/** The movements of monthly recurring revenue. */
export const recurringRevenue: Chart = defineChart({
  id: 'recurring-revenue',
  title: 'Monthly recurring revenue',
  about:
    'Active subscriptions per month, each item rounded to minor units of its currency, and what moved them. Counted from the first month that was observed, of all connections together from the first that was observed of each; a change counts in the month it was recorded. Months and days are those of UTC.',
  shownAs: 'drawing',
  marts: ['mrr_movements_monthly', 'subscription_mrr_monthly', 'connections'],
  sql: `
with begun as (
  select
    connection_id,
    currency_code,
    min(month) as first_month,
    min(month) filter (where is_baseline) as since, -- null: there was nothing then, or the connection was not observed yet
    connection_id in (select observed.connection_id from marts.mrr_movements_monthly as observed where is_observed) as is_begun
  from marts.mrr_movements_monthly
  group by connection_id, currency_code
),

-- Subscriptions that exist in the first month of a connection are not new, and their earlier revenue is unknown. So the figures of
-- all connections together begin with the latest first month.
known as (
  select
    currency_code,
    min(first_month) as first_month,
    max(since) as since,
    min(first_month) filter (where not is_begun) as not_begun_from,
    (json_agg(connection_id order by connection_id) filter (where not is_begun))::text as not_begun
  from begun
  group by currency_code
),

begun_last as (
  select currency_code, json_agg(connection_id order by connection_id)::text as connections
  from begun
  inner join known using (currency_code)
  where begun.since = known.since and known.since > known.first_month
  group by currency_code
),

shown as (
select
  scope.connection_id as of_scope, -- null: all connections together
  moved.currency_code as of_currency,
  month,
  bool_and(is_observed) as is_observed, -- of each connection; otherwise nobody knows the sums
  bool_and(is_complete) as is_complete,
  min(observed_until) as observed_until, -- of the connection that was read longest before its end
  ${wholeSum('opening')} as opening,
  ${wholeSum('new')} as new,
  ${wholeSum('reactivation')} as reactivation,
  ${wholeSum('expansion')} as expansion,
  ${wholeSum('contraction')} as contraction,
  ${wholeSum('churn')} as churn,
  ${wholeSum('closing')} as closing,
  coalesce(sum(unpriced_items), 0)::bigint as unpriced,
  -- Customers of whom nobody knows whether they paid before, and of whom nobody knows what they pay in another currency.
  count(*) filter (where opening <> closing and new is null and expansion + contraction + churn is not null) as unknown_past,
  count(*) filter (where opening <> closing and expansion + contraction + churn is null) as unknown_beside,
  (json_agg(distinct moved.connection_id) filter (where is_baseline))::text as begun_now,
  count(distinct moved.connection_id) as connections,
  known.since,
  begun_last.connections as begun_last,
  not_begun_from, -- what those bring that were never observed is in no sum before
  not_begun
from marts.mrr_movements_monthly as moved
${joinScopes('moved')}
left join known on scope.connection_id is null and moved.currency_code = known.currency_code
left join begun_last on known.currency_code = begun_last.currency_code
where month > (select max(as_of_date) - interval '24 months' from marts.connections) and coalesce(month >= known.since, true)
group by scope.connection_id, moved.currency_code, month, known.since, begun_last.connections, not_begun_from, not_begun
),

${leftOutQueries(leftOuts)}

${withLeftOuts('currency_code, month')}`,
  leftOut: leftOuts,
  row: z.object({
    connection_id: z.string().nullable(),
    currency_code: z.string().nullable(),
    month: z.string(),
    is_observed: z.boolean(),
    is_complete: z.boolean(),
    observed_until: z.string().nullable(),
    opening: amount.nullable(),
    new: amount.nullable(),
    reactivation: amount.nullable(),
    expansion: amount.nullable(),
    contraction: amount.nullable(),
    churn: amount.nullable(),
    closing: amount.nullable(),
    unpriced: z.number(),
    unknown_past: z.number(),
    unknown_beside: z.number(),
    begun_now: names.nullable(),
    connections: z.number(),
    since: z.string().nullable(),
    begun_last: names.nullable(),
    not_begun_from: z.string().nullable(),
    not_begun: names.nullable(),
  }),
  view(rows, { currency, asOf, utcDay, leftOut }) {
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
      sentence: !last?.is_observed
        ? 'This month was not observed yet.'
        : `${namedAmount(last.closing, currency)} on ${dayWords(last, { asOf, utcDay })}${openingWords(last, currency)}`,
      gap: describeGap({
        unknown: 0,
        more: [
          ...leftOut,
          ...sinceWords(rows[0]),
          ...notBegunWords(rows[0]),
          ...earlierWords(rows, asOf),
          ...goingOnWords(rows, { asOf, utcDay }),
          ...unpricedWords(
            Math.max(0, ...rows.map(({ unpriced }) => unpriced)),
            rows.filter(({ unpriced }) => unpriced > 0).length,
          ),
          ...unknownMoveWords(rows),
        ],
      }),
      columns: [{ head: 'Month' }, ...columns.map(({ head }) => ({ head, kind: 'number' as const }))],
      rows: rows.map(({ month }) => [
        monthName(month),
        ...columns.map(
          ({ of }) =>
            shown(month, of) ?? (byMonth.get(month)?.is_observed === true ? 'not known' : 'not observed'),
        ),
      ]),
      drawing: {
        kind: 'columns',
        labels: months.map(monthName),
        series: [
          ...movements.map(({ head, of, color }) => ({
            name: head,
            color,
            shape: 'stacked' as const,
            values: months.map((month) => shown(month, of)),
          })),
          {
            name: 'Closing (right axis)',
            color: 'line',
            shape: 'line' as const,
            values: months.map((month) => shown(month, 'closing')),
          },
        ],
      },
    };
  },
  nameless: ['subscription'],
  empty: 'There are no subscriptions.',
});

/** The day as of which the current month is shown: today, or the day on which subscriptions were last read. */
function dayWords(
  { observed_until: until }: { observed_until: string | null },
  { asOf, utcDay }: { asOf: string; utcDay: string },
): string {
  const earlier = earlierDay(until, utcDay);
  return earlier === undefined
    ? `${fullDayName(asOf)} (the month is not over)`
    : `${fullDayName(earlier)}, when subscriptions were last read (the month is not over)`;
}

/** In the marts, the opening of the first observed month equals its closing; the true opening is not known, and this says so. */
function openingWords(
  last: { opening: Decimal | null; begun_now: readonly string[] | null; connections: number },
  currency: string,
): string {
  if (last.begun_now === null) return `, from ${toldAmount(last.opening, currency)} at its beginning.`;
  const of = last.begun_now.length === last.connections ? '' : ` of ${namedFirst(last.begun_now)}`;
  return `. It is the first month that was observed${of}: what it began with is not known, and what moved in it is in no movement.`;
}

/** For all connections together: says that months are hidden if they are not known for the most recently connected ones. */
function sinceWords(
  first: { month: string; since: string | null; begun_last: readonly string[] | null } | undefined,
): string[] {
  if (first === undefined || first.begun_last === null || first.month !== first.since) return [];
  return [
    `all connections are added up from ${monthName(first.month)} on, the first month that was observed of ${namedFirst(first.begun_last)}: choose a connection for the months before`,
  ];
}

/** For all connections together: says that a sum lacks connections that nobody has observed yet. */
function notBegunWords(
  first: { month: string; not_begun_from: string | null; not_begun: readonly string[] | null } | undefined,
): string[] {
  const from = first?.not_begun_from ?? null;
  const named = first?.not_begun ?? null;
  if (first === undefined || from === null || named === null || from <= first.month) return [];
  return [
    `no month of ${namedFirst(named)} was observed yet: months before ${monthName(from)} are added up without ${named.length === 1 ? 'it' : 'them'}`,
  ];
}

function namedFirst(connections: readonly string[]): string {
  const others = connections.length - connectionsNamed;
  const more = others > 0 ? ` and ${others.toLocaleString('en-US')} more` : '';
  return `${connections.slice(0, connectionsNamed).join(', ')}${more}`;
}

const connectionsNamed = 3;

/** Past months whose closing is as of an earlier day than their last. */
function earlierWords(rows: readonly Observed[], asOf: string): string[] {
  const earlier = rows.flatMap(({ month, is_observed, is_complete, observed_until: until }) =>
    is_observed && !is_complete && until !== null && until < monthEnd(month) && isBefore(month, asOf)
      ? [`${monthName(month)} is told as of ${dayName(until)}`]
      : [],
  );
  if (earlier.length === 0) return [];
  const before = earlier.length - monthsNamed;
  const more = before <= 0 ? [] : [`so ${before === 1 ? 'is 1 month' : `are ${before} months`} before`];
  return [
    `${[...earlier.slice(-monthsNamed), ...more].join(', ')}, when subscriptions were last read in it: what changed later in it counts in the month that was read next`,
  ];
}

const monthsNamed = 3;

/** A past month that was not over in UTC when the marts were built: its last reading may still change. */
function goingOnWords(
  rows: readonly Observed[],
  { asOf, utcDay }: { asOf: string; utcDay: string },
): string[] {
  return rows
    .filter(
      ({ month, is_observed, is_complete, observed_until: until }) =>
        is_observed &&
        !is_complete &&
        isBefore(month, asOf) &&
        !isBefore(month, utcDay) &&
        (until === null || until === monthEnd(month)),
    )
    .map(
      ({ month }) =>
        `${monthName(month)} is not over in UTC, in which months of recurring revenue are: it may still change`,
    );
}

function isBefore(month: string, asOf: string): boolean {
  return month.slice(0, 7) < asOf.slice(0, 7);
}

interface Observed {
  readonly month: string;
  readonly is_observed: boolean;
  readonly is_complete: boolean;
  readonly observed_until: string | null;
}

type Amounts = Record<(typeof movements)[number]['of'] | 'opening' | 'closing', Decimal | null>;

const movements = [
  { head: 'New', of: 'new', color: 'gain-1' },
  { head: 'Reactivation', of: 'reactivation', color: 'gain-2' },
  { head: 'Expansion', of: 'expansion', color: 'gain-3' },
  { head: 'Contraction', of: 'contraction', color: 'loss-1' },
  { head: 'Churn', of: 'churn', color: 'loss-2' },
] as const;
