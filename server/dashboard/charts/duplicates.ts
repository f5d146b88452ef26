import { z } from 'zod';
import { amount, namedAmount, shownAmount, type Decimal } from '../amount.ts';
import { defineChart, type Chart } from '../chart.ts';

/** What may have been bought, or paid, twice. */
export const duplicates: Chart = defineChart({
  id: 'duplicates',
  title: 'Possible duplicates',
  about:
    'Pairs of documents that may be one purchase, the surest 25 first; void bills left out, and amounts of 0 match nobody.',
  shownAs: 'table',
  marts: ['duplicate_bills', 'vendors'],
  sql: `
with ranked as (
  select
    scope.connection_id as scope_id,
    pairs.*,
    count(*) over (partition by scope.connection_id, currency_code) as pair_count,
    row_number() over (
      partition by scope.connection_id, currency_code
      order by score desc, abs(amount_a) desc, pairs.connection_id, bill_id_a, document_id_b
    ) as place
  from marts.duplicate_bills as pairs
  cross join lateral (values (pairs.connection_id), (null)) as scope (connection_id)
)

select
  scope_id as connection_id, -- null: all connections together
  currency_code,
  currency_code_b,
  pair_count,
  ranked.connection_id as found_in,
  rule,
  score::numeric as score,
  vendor_name,
  amount_a,
  amount_b,
  day_gap,
  bill_id_a,
  document_type_b,
  document_id_b
from ranked
left join marts.vendors on ranked.connection_id = vendors.connection_id and vendor_id_a = vendor_id
where place <= 25
order by scope_id nulls first, currency_code, place`,
  row: z.object({
    connection_id: z.string().nullable(),
    currency_code: z.string().nullable(),
    currency_code_b: z.string().nullable(),
    pair_count: z.number(),
    found_in: z.string(),
    rule: z.string(),
    score: amount,
    vendor_name: z.string().nullable(),
    amount_a: amount.nullable(),
    amount_b: amount.nullable(),
    day_gap: z.number().nullable(),
    bill_id_a: z.string(),
    document_type_b: z.string(),
    document_id_b: z.string(),
  }),
  view: (rows, { currency }) => ({
    sentence: `${(rows[0]?.pair_count ?? 0).toLocaleString('en-US')} ${rows[0]?.pair_count === 1 ? 'pair deserves' : 'pairs deserve'} a look${rows.length < (rows[0]?.pair_count ?? 0) ? `; the first ${rows.length} are here` : ''}.`,
    columns: [
      { head: 'Why' },
      { head: 'Score', kind: 'number' },
      { head: 'Vendor' },
      { head: 'Bill', kind: 'number' },
      { head: 'Other', kind: 'number' },
      { head: 'Days between', kind: 'number' },
      { head: 'Bill ID', kind: 'code' },
      { head: 'Other ID', kind: 'code' },
      { head: 'Connection' },
    ],
    rows: rows.map((row) => [
      rules[row.rule] ?? row.rule,
      row.score,
      row.vendor_name ?? '',
      shownAmount(row.amount_a, currency),
      otherAmount(row, currency),
      row.day_gap === null ? '' : String(row.day_gap),
      row.bill_id_a,
      `${row.document_type_b} ${row.document_id_b}`,
      row.found_in,
    ]),
  }),
  empty: 'No two documents look like one purchase.',
});

/** One of another currency says which. */
function otherAmount(
  { amount_b: other, currency_code_b }: { amount_b: Decimal | null; currency_code_b: string | null },
  currency: string,
): string {
  const code = currency_code_b ?? '';
  return code === currency ? shownAmount(other, currency) : namedAmount(other, code);
}

const rules: Readonly<Record<string, string>> = {
  same_number: 'same vendor and number',
  paid_twice: 'bill and expense of one amount',
  same_amount: 'same vendor and amount',
  other_vendor: 'same number and amount, other or no vendor',
};
