import { z } from 'zod';
import { amount, namedAmount, shownAmount } from '../amount.ts';
import { defineChart, type Chart } from '../chart.ts';
import { dayName, daysAfter } from '../month.ts';

/** How much money is needed when. */
export const cashRequirements: Chart = defineChart({
  id: 'cash-requirements',
  title: 'Cash requirements by week',
  about:
    'Open bills by the week in which they fall due, and by when their vendors are usually paid: the due date moved by the median days late. Weeks begin today. What is overdue is not drawn.',
  shownAs: 'drawing',
  marts: ['cash_requirements'],
  sql: `
select
  scope.connection_id, -- null: all connections together
  currency_code,
  due_bucket,
  sum(amount_due) as due,
  sum(expected_amount) as expected,
  sum(document_count)::bigint as documents
from marts.cash_requirements as required
cross join lateral (values (required.connection_id), (null)) as scope (connection_id)
group by scope.connection_id, currency_code, due_bucket
order by scope.connection_id nulls first, currency_code, due_bucket`,
  row: z.object({
    connection_id: z.string().nullable(),
    currency_code: z.string().nullable(),
    due_bucket: z.string(),
    due: amount,
    expected: amount,
    documents: z.number(),
  }),
  view(rows, { currency, asOf }) {
    const byBucket = new Map(rows.map((row) => [row.due_bucket, row]));
    const shown = (bucket: string, of: 'due' | 'expected'): string =>
      shownAmount(byBucket.get(bucket)?.[of] ?? '0', currency);
    const weeks = Array.from({ length: 13 }, (_, week) => ({
      bucket: `w${String(week).padStart(2, '0')}`,
      label: dayName(daysAfter(asOf, week * 7)),
    }));
    // What is overdue would dwarf the weeks to come.
    const drawn = [...weeks, { bucket: 'later', label: 'Later' }];
    const listed = [
      { bucket: 'overdue', label: 'Overdue' },
      ...drawn,
      { bucket: 'no_date', label: 'No due date' },
      { bucket: 'unapplied_credits', label: 'Unapplied credits' },
    ];
    return {
      sentence: `${namedAmount(byBucket.get('overdue')?.due ?? '0', currency)} is overdue, ${shown('w00', 'due')} falls due within 7 days; ${shown('unapplied_credits', 'due')} of credits may be taken off.`,
      columns: [
        { head: 'Week from' },
        { head: 'Due', kind: 'number' },
        { head: 'Expected', kind: 'number' },
        { head: 'Documents due', kind: 'number' },
      ],
      rows: listed.map(({ bucket, label }) => [
        label,
        shown(bucket, 'due'),
        shown(bucket, 'expected'),
        (byBucket.get(bucket)?.documents ?? 0).toLocaleString('en-US'),
      ]),
      drawing: {
        kind: 'columns',
        labels: drawn.map(({ label }) => label),
        series: [
          {
            ...{ name: 'Due', colour: 'vendor-1', shape: 'beside' as const },
            values: drawn.map(({ bucket }) => shown(bucket, 'due')),
          },
          {
            ...{ name: 'Expected to be paid', colour: 'vendor-2', shape: 'beside' as const },
            values: drawn.map(({ bucket }) => shown(bucket, 'expected')),
          },
        ],
      },
    };
  },
  empty: 'There is nothing to pay.',
});
