/**
 * Joins the scopes that a row of a mart is shown in: its connection, and all together (null). Amounts without a currency may be of
 * several: of these there is no sum over companies.
 */
export function scopesOf(mart: string): string {
  return `cross join lateral (
    select ${mart}.connection_id
    union all
    select null where ${mart}.currency_code is not null
  ) as scope (connection_id)`;
}
