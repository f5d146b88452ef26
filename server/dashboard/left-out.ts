import { shownAmount, type Decimal } from './amount.ts';
import { wholeSum } from './whole-sum.ts';

/** SQL of bills of an unknown status, which no figure of what is owed has: two columns, of a scope (null: all) and a currency. */
export function unknownStatusSql(scope: string, currency: string): string {
  return leftOutSql('unknown_status', {
    from: 'marts.bills as odd',
    where: "posting_status = 'unknown'",
    ...{ count: 'count(*)', amount: 'amount_due', scope, currency },
  });
}

/** The same of documents without a date, which are spend of no month. */
export function undatedSql(scope: string, currency: string): string {
  return leftOutSql('undated', {
    from: 'marts.vendor_spend_monthly as odd',
    where: 'spend_month is null',
    ...{ count: 'coalesce(sum(document_count), 0)', amount: 'spend', scope, currency },
  });
}

/** The same of documents of an unknown status, which are no spend; `during` says of which months. */
export function unknownSpendSql(scope: string, currency: string, during: string): string {
  return leftOutSql('unknown_spend', {
    from: 'marts.spend_lines as odd',
    where: `posting_status = 'unknown' and not is_in_future and spend_month ${during}`,
    ...{
      count: "count(distinct source_type || ' ' || odd.connection_id || ' ' || document_id)",
      amount: 'gross_amount',
    },
    ...{ scope, currency },
  });
}

export function unknownStatusWords(count: number, due: Decimal | null, currency: string): string[] {
  return leftOutWords(count, ['bill', 'of an unknown status', 'amount due'], due, currency);
}

export function unknownSpendWords(count: number, spend: Decimal | null, currency: string): string[] {
  return leftOutWords(count, ['document', 'of an unknown status', 'spend'], spend, currency);
}

export function undatedWords(count: number, spend: Decimal | null, currency: string): string[] {
  return leftOutWords(count, ['document', 'without a date', 'spend'], spend, currency);
}

function leftOutSql(
  name: string,
  parts: Readonly<Record<'from' | 'where' | 'count' | 'amount' | 'scope' | 'currency', string>>,
): string {
  const { from, where, count, amount, scope, currency } = parts;
  const read = (expression: string): string => `(
    select ${expression} from ${from}
    where ${where} and (${scope} is null or odd.connection_id = ${scope}) and odd.currency_code is not distinct from ${currency}
  )`;
  return `${read(`${count}::bigint`)} as ${name},
  ${read(wholeSum(amount))} as ${name}_amount`;
}

function leftOutWords(
  count: number,
  [noun, which, what]: readonly [string, string, string],
  amount: Decimal | null,
  currency: string,
): string[] {
  if (count === 0) return [];
  const [nouns, are] = count === 1 ? [noun, 'is'] : [`${noun}s`, 'are'];
  const told = amount === null ? 'an unknown amount' : shownAmount(amount, currency);
  return [`${count.toLocaleString('en-US')} ${nouns} ${which} ${are} left out (${what} ${told})`];
}
