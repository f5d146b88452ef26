/**
 * Returns SQL that joins the scopes in which a row of a mart is shown: its connection, and all together (null). Amounts without a currency
 * may be in several currencies, so they are not summed across connections.
 */
export function joinScopes(mart: string): string {
  return `cross join lateral (
    select ${mart}.connection_id
    union all
    select null where ${mart}.currency_code is not null
  ) as scope (connection_id)`;
}
