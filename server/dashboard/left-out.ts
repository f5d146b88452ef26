import { z } from 'zod';
import { amount, shownAmount } from './amount.ts';
import { scopesOf } from './scopes-of.ts';
import { wholeSum } from './whole-sum.ts';

/** What figures leave out, as a chart's statement reads it and its words tell it. Alias of the mart in `count`: odd. */
const leftOuts = {
  /** Bills of an unknown status, which no figure of what is owed has. */
  unknown_status: {
    ...{ mart: 'bills', where: "posting_status = 'unknown'", count: 'count(*)', amount: 'amount_due' },
    words: ['bill', 'of an unknown status', 'left out', 'amount due'],
  },
  /** Vendor credits of an unknown status, which nothing is lowered by. */
  unknown_credit: {
    ...{
      mart: 'vendor_credits',
      where: "posting_status = 'unknown'",
      count: 'count(*)',
      amount: 'remaining_amount',
    },
    words: ['credit', 'of an unknown status', 'left out', 'remaining'],
  },
  /** Bills of which nobody knows when a part of them was settled. */
  unexplained: {
    mart: 'bills',
    where: 'is_posted and has_unexplained_amount and unexplained_amount > 0',
    ...{ count: 'count(*)', amount: 'unexplained_amount' },
    words: [
      ...(['bill', 'with an amount that no payment or credit explains'] as const),
      ...(['told in the past without it', 'together'] as const),
    ],
  },
  /** Bills of which more is due than they say why: a late fee, or a payment that is not taken off yet. */
  overstated: {
    mart: 'bills',
    where: 'is_posted and has_unexplained_amount and unexplained_amount < 0',
    ...{ count: 'count(*)', amount: '-unexplained_amount' },
    words: [
      ...(['bill', 'of which more is due than payments and credits leave'] as const),
      ...(['told with it on past days too', 'together'] as const),
    ],
  },
  /** Documents without a date, which are spend of no month. */
  undated: {
    ...{ mart: 'vendor_spend_monthly', where: 'spend_month is null', count: 'sum(document_count)' },
    ...{ amount: 'spend', words: ['document', 'without a date', 'left out', 'spend'] },
  },
  /** Documents of an unknown status, which are no spend. */
  unknown_spend: {
    mart: 'spend_lines',
    where: "posting_status = 'unknown' and not is_in_future",
    count: "count(distinct source_type || ' ' || odd.connection_id || ' ' || document_id)",
    ...{ amount: 'gross_amount', words: ['document', 'of an unknown status', 'left out', 'spend'] },
  },
} as const;

type LeftOut = keyof typeof leftOuts;

/**
 * A query of a `with` list, named as what is left out: one row for each scope (null: all connections together) and currency that leaves
 * out something. It is read once; `during` says of which months.
 */
export function leftOutQuery(name: LeftOut, during?: string): string {
  const { mart, where, count, amount: measured } = leftOuts[name];
  return `${name} as (
  select
    scope.connection_id as in_scope, odd.currency_code as in_currency,
    ${count}::bigint as documents, ${wholeSum(measured)} as left_out
  from marts.${mart} as odd
  ${scopesOf('odd')}
  where ${where}${during === undefined ? '' : ` and spend_month ${during}`}
  group by scope.connection_id, odd.currency_code
)`;
}

/** Joins it, a row at most, to those of a scope and a currency. Neither is ever an empty text. */
export function leftOutJoin(name: LeftOut, scope: string, currency: string): string {
  return `left join ${name}
  on coalesce(${scope}, '') = coalesce(${name}.in_scope, '') and coalesce(${currency}, '') = coalesce(${name}.in_currency, '')`;
}

/** Its two columns, where rows of one scope and currency are grouped. */
export function leftOutColumns(name: LeftOut): string {
  return `coalesce(max(${name}.documents), 0)::bigint as ${name},
  max(${name}.left_out) as ${name}_amount`;
}

export const unknownStatusRow = {
  ...{ unknown_status: z.number(), unknown_status_amount: amount.nullable() },
  ...{ unknown_credit: z.number(), unknown_credit_amount: amount.nullable() },
};

export const unexplainedRow = {
  ...{ unexplained: z.number(), unexplained_amount: amount.nullable() },
  ...{ overstated: z.number(), overstated_amount: amount.nullable() },
};

export const leftOutSpendRow = {
  ...{ undated: z.number(), undated_amount: amount.nullable() },
  ...{ unknown_spend: z.number(), unknown_spend_amount: amount.nullable() },
};

type LeftOutRow = z.infer<
  z.ZodObject<typeof unknownStatusRow & typeof unexplainedRow & typeof leftOutSpendRow>
>;

/** At most one sentence, of any row of the scope and currency. */
export function leftOutWords<Name extends LeftOut>(
  name: Name,
  row: Pick<LeftOutRow, Name | `${Name}_amount`> | undefined,
  currency: string,
): string[] {
  const count = row?.[name] ?? 0;
  if (count === 0) return [];
  const [noun, which, done, what] = leftOuts[name].words;
  const [nouns, are] = count === 1 ? [noun, 'is'] : [`${noun}s`, 'are'];
  const leftOut = row?.[`${name}_amount` as const] ?? null;
  const told = leftOut === null ? 'an unknown amount' : shownAmount(leftOut, currency);
  return [`${count.toLocaleString('en-US')} ${nouns} ${which} ${are} ${done} (${what} ${told})`];
}
