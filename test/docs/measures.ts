/** The meaning of each term in the samples: its mart, with the columns that a row of a sample may have. */
const measures: Readonly<Record<string, string>> = {
  open: `select connection_id, vendor_id, currency_code, null::date as month, open_amount as amount
    from marts.ap_open_items where is_today and not is_credit`,
  overdue: `select connection_id, vendor_id, currency_code, null::date as month, open_amount as amount
    from marts.ap_open_items where is_today and days_past_due > 0`,
  spend: `select connection_id, vendor_id, currency_code, spend_month as month, is_complete, spend as amount
    from marts.vendor_spend_monthly`,
};

export const measureNames: readonly string[] = Object.keys(measures);

/**
 * A statement for the expected value of a row of a sample; null if an amount is not known. It computes the measure for the row's
 * connection, vendor and currency, under the sample's own conditions (`connection_id = 'acme-us'`, `spend_month > …`), and with what its
 * `with` says of each connection.
 */
export function expectedOf(
  measure: string,
  row: Readonly<Record<string, string | null>>,
  sample: string,
): string {
  const conditions = ['connection_id', 'vendor_id', 'currency_code'].flatMap((column) => {
    const [, constant] = new RegExp(`${column} = '([^']*)'`).exec(sample) ?? [];
    const value = row[column] === undefined ? constant : row[column];
    if (value === undefined) return [];
    return [value === null ? `${column} is null` : `${column} = '${value}'`];
  });
  const [, since] = /spend_month (>=? .*)$/m.exec(sample) ?? [];
  if (since !== undefined) conditions.push(`month ${since}`);
  if (sample.includes('where is_complete')) conditions.push('is_complete');
  const [, said = '', name = ''] = /^(?:--.*\n)*(with (\w+) as \([^]*?\n\)\n)/.exec(sample) ?? [];
  return `${said}select case when count(*) = count(amount) then coalesce(sum(amount), 0)::text end as expected from (${measures[measure] ?? ''}) as measured ${name === '' ? '' : `join ${name} using (connection_id)`}
    where ${conditions.length === 0 ? 'true' : conditions.join(' and ')}`;
}
