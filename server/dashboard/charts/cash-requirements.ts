import * as z from 'zod';
import {
  amount,
  drawnAmount,
  isZero,
  namedAmount,
  negated,
  shownAmount,
  toldAmount,
  type Decimal,
} from '../amount.ts';
import { defineChart, type Chart } from '../chart.ts';
import { describeGap } from '../gap.ts';
import { leftOutQueries, withLeftOuts } from '../left-out.ts';
import { dayName, daysAfter } from '../month.ts';
import { wholeSum } from '../whole-sum.ts';
import { joinScopes } from '../join-scopes.ts';

const leftOuts = ['unknown_status', 'unknown_credit', 'gone_due', 'gone_ahead'] as const;

const credited = wholeSum('amount_due_credited + dated_ahead_credited');

/** How much cash is needed, and when. */
export const cashRequirements: Chart = defineChart({
  id: 'cash-requirements',
  title: 'Cash requirements by week',
  about:
    'Open bills and, apart, bills dated ahead (issued after today) by the week in which they fall due; and both by when their vendors are usually paid: the due date moved by the median days late, from today on, without what credits settle by then. Weeks begin today. What is overdue is not drawn. Credits may be taken off bills of the same vendor only, whenever those are due.',
  shownAs: 'drawing',
  marts: ['cash_requirements', 'bills', 'vendor_credits'],
  sql: `
with shown as (
select
  scope.connection_id as of_scope, -- null: all connections together
  currency_code as of_currency,
  due_bucket,
  ${wholeSum('amount_due')} as due,
  ${wholeSum('dated_ahead')} as ahead,
  ${wholeSum('expected_amount')} as expected,
  -- The sum over all weeks: credits that settle later bills reduce what has to be paid, too.
  case
    when bool_and(due_bucket = 'unapplied_credits' or ${credited} is not null) over scoped
      then sum(case when due_bucket = 'unapplied_credits' then 0 else ${credited} end) over scoped
  end as credited,
  sum(document_count)::bigint as documents,
  sum(unknown_count)::bigint as unknown
from marts.cash_requirements as required
${joinScopes('required')}
group by scope.connection_id, currency_code, due_bucket
window scoped as (partition by scope.connection_id, currency_code)
),

${leftOutQueries(leftOuts)}

${withLeftOuts('currency_code, due_bucket')}`,
  leftOut: leftOuts,
  nameless: ['bill', 'vendor_credit'],
  row: z.object({
    connection_id: z.string().nullable(),
    currency_code: z.string().nullable(),
    due_bucket: z.string(),
    due: amount.nullable(),
    ahead: amount.nullable(),
    expected: amount.nullable(),
    credited: amount.nullable(),
    documents: z.number(),
    unknown: z.number(),
  }),
  view(rows, { currency, asOf, leftOut }) {
    const byBucket = new Map(rows.map((row) => [row.due_bucket, row]));
    const of = (bucket: string, what: 'due' | 'ahead' | 'expected'): Decimal | null => {
      const row = byBucket.get(bucket);
      return row === undefined ? '0' : row[what];
    };
    const shown = (bucket: string, what: 'due' | 'ahead' | 'expected'): string =>
      shownAmount(of(bucket, what), currency);
    const weeks = Array.from({ length: 13 }, (_, week) => ({
      bucket: `w${String(week).padStart(2, '0')}`,
      label: dayName(daysAfter(asOf, week * 7)),
    }));
    // The overdue amount would dwarf the coming weeks.
    const drawn = [...weeks, { bucket: 'later', label: 'Later' }];
    const listed = [
      { bucket: 'overdue', label: 'Overdue' },
      ...drawn,
      { bucket: 'no_date', label: 'No due date' },
      { bucket: 'unapplied_credits', label: 'Unapplied credits' },
    ];
    // Excludes credits that settle a bill from a later day on. Each credit reduces what its own vendor is owed, if that is anything.
    const credits = negated(of('unapplied_credits', 'expected'));
    return {
      sentence: `${namedAmount(of('overdue', 'due'), currency)} is overdue, ${toldAmount(of('w00', 'due'), currency)} of open bills falls due within 7 days; ${toldAmount(credits, currency)} of credits is not applied yet.`,
      gap: describeGap({
        unknown: rows.reduce((sum, { unknown }) => sum + unknown, 0),
        more: [...leftOut, ...creditedWords(rows[0]?.credited, currency)],
      }),
      columns: [
        { head: 'Week from' },
        { head: 'Due', kind: 'number' },
        { head: 'Dated ahead', kind: 'number' },
        { head: 'Expected', kind: 'number' },
        { head: 'Documents due', kind: 'number' },
      ],
      rows: listed.map(({ bucket, label }) => [
        label,
        shown(bucket, 'due'),
        shown(bucket, 'ahead'),
        shown(bucket, 'expected'),
        (byBucket.get(bucket)?.documents ?? 0).toLocaleString('en-US'),
      ]),
      drawing: {
        kind: 'columns',
        labels: drawn.map(({ label }) => label),
        series: [
          {
            name: 'Due',
            color: 'vendor-1',
            shape: 'beside' as const,
            values: drawn.map(({ bucket }) => drawnAmount(of(bucket, 'due'), currency)),
          },
          {
            name: 'Dated ahead',
            color: 'neutral',
            shape: 'beside' as const,
            values: drawn.map(({ bucket }) => drawnAmount(of(bucket, 'ahead'), currency)),
          },
          {
            name: 'Expected to be paid',
            color: 'vendor-2',
            shape: 'beside' as const,
            values: drawn.map(({ bucket }) => drawnAmount(of(bucket, 'expected'), currency)),
          },
        ],
      },
    };
  },
  empty: 'There is nothing to pay.',
});

/** `credited` is null if it is not known. */
function creditedWords(credited: Decimal | null | undefined, currency: string): string[] {
  if (credited === undefined || (credited !== null && isZero(credited))) return [];
  return [
    `credits settle ${toldAmount(credited, currency)} of it from a later day on, which is due until then and not expected to be paid`,
  ];
}
