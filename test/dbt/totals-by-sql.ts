import { canonicalDecimal } from '../support/exact-json.ts';

/** A total with its name and currency, such as `spend EUR`. */
export type Total = Readonly<Record<'key' | 'amount', string>>;

/** Normalizes totals to one spelling and order. Totals of 0 are dropped. */
export function comparable(
  totals: readonly Readonly<Record<string, string | null>>[],
): Record<string, string> {
  const spelled = totals.map(
    ({ key, amount }) => [key ?? '', canonicalDecimal(amount ?? '') ?? 'none'] as const,
  );
  return Object.fromEntries(
    spelled.filter(([, amount]) => amount !== '0').sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** Totals of the tables named as in the API; `table` returns the place of one. */
export function totalsOfTables(company: string, table: (name: string) => string, text: string): string {
  const posted = `status in ('open', 'partially_paid', 'paid')`;
  const signed = `case when expense_type = 'refund' and sum(l.total_amount) > 0 then -1 else 1 end * sum(l.total_amount)`;
  const paid = `select e.currency_code, ${signed} as amount from ${table('expenses')} e
    join ${table('expense_lines')} l on l.connection_id = e.connection_id and l.expense_id = e.id
    where e.connection_id = '${company}' group by e.id, e.currency_code, e.expense_type`;
  const ofHeader = (name: string, column: string): string =>
    `select currency_code, ${column} as amount from ${table(name)} where connection_id = '${company}' and ${posted}`;
  const linesOf = (name: string, lines: string, key: string): string =>
    `select d.currency_code, 1 as amount from ${table(lines)} l
     join ${table(name)} d on d.connection_id = l.connection_id and d.id = l.${key} where d.connection_id = '${company}'`;
  return summed(text, {
    'open bills': ofHeader('bills', 'amount_due'),
    'open credits': ofHeader('bill_credit_memos', 'remaining_amount'),
    credits: ofHeader('bill_credit_memos', 'total_amount'),
    expenses: paid,
    spend: [
      ofHeader('bills', 'total_amount'),
      ofHeader('bill_credit_memos', '-total_amount'),
      `select * from (${paid}) as paid`,
    ].join(' union all '),
    'bill lines': linesOf('bills', 'bill_lines', 'bill_id'),
    'expense lines': linesOf('expenses', 'expense_lines', 'expense_id'),
    mrr: `select s.iso_currency_code as currency_code, ${perMonth(text)} as amount from ${table('subscription_items')} i
      join ${table('subscriptions')} s on s.connection_id = i.connection_id and s.id = i.subscription_id
      where s.connection_id = '${company}' and s.status = 'active'`,
  });
}

/** Totals of the marts, each from the mart that people would query. */
export function totalsOfMarts(company: string, mart: (name: string) => string, text: string): string {
  const ours = `connection_id = '${company}'`;
  const openItems = (type: string, sign: string): string =>
    `select currency_code, ${sign}open_amount as amount from ${mart('ap_open_items')}
     where is_today and ${ours} and document_type = '${type}'`;
  // Includes documents dated ahead, which the monthly marts show only once their day has come.
  const spend = (types: string, sign = ''): string =>
    `select currency_code, ${sign}gross_amount as amount from ${mart('spend_lines')}
     where ${ours} and posting_status = 'posted' and source_type in (${types})`;
  return summed(text, {
    'open bills': openItems('bill', ''),
    'open credits': openItems('vendor_credit', '-'),
    credits: spend("'vendor_credit'", '-'),
    expenses: spend("'expense', 'refund'"),
    spend: spend("'bill', 'expense', 'refund', 'vendor_credit'"),
    'bill lines': `select currency_code, 1 as amount from ${mart('bill_lines')} where ${ours}`,
    'expense lines': `select currency_code, 1 as amount from ${mart('expense_lines')} where ${ours}`,
    mrr: `select currency_code, mrr as amount from ${mart('subscription_mrr_monthly')}
      where ${ours} and month = (select max(month) from ${mart('subscription_mrr_monthly')})`,
  });
}

function summed(text: string, measures: Record<string, string>): string {
  return Object.entries(measures)
    .map(
      ([measure, parts]) =>
        `select '${measure} ' || currency_code as key, cast(sum(amount) as ${text}) as amount from (${parts}) as parts group by currency_code`,
    )
    .join('\nunion all\n');
}

/** DuckDB's `/` on integers does not truncate; its `//` does, like Postgres's `/` on integers. */
function perMonth(text: string): string {
  const whole = text === 'varchar' ? 'hugeint' : 'numeric';
  const divided = (a: string, b: string): string =>
    text === 'varchar' ? `(${a}) // (${b})` : `div(${a}, ${b})`;
  const minor = `cast(case s.iso_currency_code when 'JPY' then 1 when 'KWD' then 1000 else 100 end as ${whole})`;
  const months = `case i."interval" when 'day' then 365 when 'week' then 52 else 1 end`;
  const per = `(case i."interval" when 'month' then 1 else 12 end * i.interval_count)`;
  const rounded = divided(
    `2 * cast(i.amount * 1000 as ${whole}) * ${months} * ${minor} + 1000 * ${per}`,
    `2000 * ${per}`,
  );
  return `cast(${rounded} as numeric(30, 3)) * case s.iso_currency_code when 'JPY' then 1 when 'KWD' then 0.001 else 0.01 end`;
}
