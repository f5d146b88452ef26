import * as z from 'zod';
import { amount, namedAmount, shownAmount, type Decimal } from '../amount.ts';
import { defineChart, type Chart } from '../chart.ts';
import { describeGap } from '../gap.ts';

/**
 * Bills that may be recorded twice, or also as an expense. Two expenses are not compared: they have no number, and two of the same amount on
 * the same day are ordinary for a card.
 */
export const duplicates: Chart = defineChart({
  id: 'duplicates',
  title: 'Possible duplicates',
  about:
    'Pairs of two bills, or of a bill and an expense, that may be one purchase (two expenses are never compared), the surest 25 first; where more than 11 are alike, each may be paired with its nearest alone; void bills left out, and amounts of 0 match nobody.',
  shownAs: 'table',
  marts: ['duplicate_bills', 'vendors', 'bills', 'expenses'],
  sql: `
with documents as (
  select connection_id, vendor_id, currency_code, 'bill' as kind, total_amount as amount, issue_date as day
  from marts.bills
  where coalesce(source_status, 'unknown') <> 'void'
  union all
  select connection_id, vendor_id, currency_code, 'expense', signed_amount, transaction_date
  from marts.expenses
  where expense_type = 'expense'
),

-- Vendor, amount and currency with many documents: two documents with ten like them in between are no pair.
crowded as (
  select distinct connection_id, vendor_id, currency_code, amount
  from (
    select
      documents.*,
      count(*) filter (where kind = 'bill') over within_7_days > 11
      or (
        count(*) filter (where kind = 'bill') over within_5_days > 10
        and count(*) filter (where kind = 'expense') over within_5_days > 10
      ) as is_crowded
    from documents
    where exists (
      select from marts.duplicate_bills as pairs
      where
        pairs.connection_id = documents.connection_id and pairs.vendor_id_a = documents.vendor_id
        and pairs.amount_a = documents.amount and coalesce(pairs.currency_code, '') = coalesce(documents.currency_code, '')
        and alike_count > 11 and rule in ('same_amount', 'paid_twice')
    )
    window
      within_7_days as (
        partition by connection_id, vendor_id, currency_code, amount
        order by day range between current row and interval '7 days' following
      ),
      within_5_days as (
        partition by connection_id, vendor_id, currency_code, amount
        order by day range between current row and interval '5 days' following
      )
  ) as counted
  where is_crowded and day is not null
),

ranked as (
  select
    scope.connection_id as scope_id,
    listed.in_currency,
    pairs.*,
    count(*) over (partition by scope.connection_id, listed.in_currency) as pair_count,
    -- The largest group in which not every two documents form a pair.
    max(alike_count) filter (
      where alike_count > 11 and (rule in ('same_number', 'other_vendor') or crowded.connection_id is not null)
    ) over (partition by scope.connection_id, listed.in_currency) as most_alike,
    row_number() over (
      partition by scope.connection_id, listed.in_currency
      order by
        score desc,
        abs(case when pairs.currency_code is not distinct from listed.in_currency then amount_a else amount_b end) desc,
        pairs.connection_id, bill_id_a, document_id_b
    ) as place
  from marts.duplicate_bills as pairs
  left join crowded
    on
      pairs.connection_id = crowded.connection_id and pairs.vendor_id_a = crowded.vendor_id
      and pairs.amount_a = crowded.amount and coalesce(pairs.currency_code, '') = coalesce(crowded.currency_code, '')
  -- A pair of two currencies is listed in both.
  cross join lateral (select pairs.currency_code union select currency_code_b) as listed (in_currency)
  cross join lateral (
    select pairs.connection_id
    union all
    select null where listed.in_currency is not null
  ) as scope (connection_id)
)

select
  scope_id as connection_id, -- null: all connections together
  in_currency as currency_code,
  ranked.currency_code as currency_code_a,
  currency_code_b,
  pair_count,
  most_alike,
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
order by scope_id nulls first, in_currency, place`,
  row: z.object({
    connection_id: z.string().nullable(),
    currency_code: z.string().nullable(),
    currency_code_a: z.string().nullable(),
    currency_code_b: z.string().nullable(),
    pair_count: z.number(),
    most_alike: z.number().nullable(),
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
  view: (rows, { currency, leftOut }) => ({
    sentence: `${(rows[0]?.pair_count ?? 0).toLocaleString('en-US')} ${rows[0]?.pair_count === 1 ? 'pair deserves' : 'pairs deserve'} a look${rows.length < (rows[0]?.pair_count ?? 0) ? `; the first ${rows.length} are here` : ''}.`,
    gap: describeGap({ unknown: 0, more: [...leftOut, ...alikeWords(rows[0]?.most_alike ?? null)] }),
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
      amountIn(row.currency_code_a, row.amount_a, currency),
      amountIn(row.currency_code_b, row.amount_b, currency),
      row.day_gap === null ? '' : String(row.day_gap),
      row.bill_id_a,
      `${row.document_type_b} ${row.document_id_b}`,
      row.found_in,
    ]),
  }),
  nameless: ['bill', 'expense'],
  empty: 'No bill looks like one purchase with another bill or with an expense.',
});

/** Explains that the mart does not pair every document with every other one when many are alike. */
function alikeWords(mostAlike: number | null): string[] {
  if (mostAlike === null) return [];
  return [
    `${mostAlike.toLocaleString('en-US')} documents are alike, and each is paired with its nearest alone: more pairs than are counted may be one purchase`,
  ];
}

/** Names the currency only if it differs from that of the chart. */
function amountIn(code: string | null, value: Decimal | null, currency: string): string {
  return (code ?? '') === currency ? shownAmount(value, currency) : namedAmount(value, code ?? '');
}

const rules: Readonly<Record<string, string>> = {
  same_number: 'same vendor and number',
  paid_twice: 'bill and expense of one amount',
  same_amount: 'same vendor and amount',
  other_vendor: 'same number and amount, other or no vendor',
};
