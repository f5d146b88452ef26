import * as z from 'zod';
import type { QueryResult, Statement } from '../../warehouse/query/query-texts.ts';
import { counted } from '../frame/counted.ts';
import { asObjects, type Chart } from './chart.ts';
import { joinScopes } from './join-scopes.ts';

/** The connections and currencies that the page offers. */
export interface Offered {
  /** By name, without the entry for all connections together. */
  readonly connections: readonly string[];
  /** For rows about money: connection and currency, both as Postgres writes them as JSON. */
  readonly choices: readonly string[];
  readonly leftOut: LeftOutOfChoices;
}

export interface LeftOutOfChoices {
  readonly connections: number;
  /** Currencies of an offered connection, or of all together. */
  readonly currencies: number;
}

/** A company may put a different code on each bill: 5,000 codes made a page of 120 MB, and blocked the server for a minute. */
const mostCurrencies = 20;

/** SQL condition. Such a text is not a currency code, and would be on the page in each of its rows. */
const isTooLong = 'coalesce(length(currency_code) > 40, false)';

/** Few companies have more currencies. */
const currenciesAtOnce = 5;

/** About 7 MB, if every chart has figures for each choice. */
const mostChoices = 500;

/** The marts that the statement below reads. */
export const martsOfOffered: readonly string[] = [
  'connections',
  'bills',
  'expenses',
  'vendor_credits',
  'subscription_mrr_monthly',
];

/**
 * Returns the statement that picks the choices. For each connection: first the documents without a currency, then the currencies with most
 * documents; for all together: first the currencies that most connections have. Beyond the limit, each connection gets five currencies before
 * any gets a sixth, so one company with many cannot crowd out another. The connection named `asked` gets all of its own.
 */
export function offeredChoices(asked: string | null): Statement {
  return { text: offeredSql, values: [asked] };
}

const offeredSql = `
with documents as (
  select connection_id, currency_code, count(*) as documents from marts.bills group by connection_id, currency_code
  union all
  select connection_id, currency_code, count(*) from marts.expenses group by connection_id, currency_code
  union all
  select connection_id, currency_code, count(*) from marts.vendor_credits group by connection_id, currency_code
  union all
  select connection_id, currency_code, count(distinct subscription_id)
  from marts.subscription_mrr_monthly
  group by connection_id, currency_code
),

counted as (
  select * from documents
  union all
  -- One without documents can be chosen too.
  select connection_id, null, 0
  from marts.connections
  where connection_id not in (select connection_id from documents)
),

placed as (
  select
    scope.connection_id,
    currency_code,
    row_number() over (
      partition by scope.connection_id
      order by
        currency_code is null desc, ${isTooLong}, count(distinct counted.connection_id) desc, sum(documents) desc, currency_code
    ) as place,
    ${isTooLong} as is_too_long,
    sum(documents) as documents,
    sum(sum(documents)) over (partition by scope.connection_id) as of_connection
  from counted
  ${joinScopes('counted')}
  group by scope.connection_id, currency_code
),

decided as (
  select
    *,
    place <= ${mostCurrencies} and not is_too_long and row_number() over (
      order by
        place > ${mostCurrencies},
        connection_id is null or connection_id is not distinct from $1 desc,
        documents = 0,
        (place - 1) / ${currenciesAtOnce}, of_connection desc, connection_id, place
    ) <= ${mostChoices} as is_offered
  from placed
),

listed as (
  select *, bool_or(is_offered) over (partition by connection_id) as is_listed
  from decided
),

left_out as (
  select
    count(distinct connection_id) filter (where not is_listed) as connections_left_out,
    count(distinct currency_code) filter (where is_listed and not is_offered) as currencies_left_out
  from listed
)

select
  connection_id, -- null: all connections together
  jsonb_build_array(connection_id, currency_code)::text as choice,
  connections_left_out,
  currencies_left_out
from listed
cross join left_out
where is_offered`;

export function parseOffered(result: QueryResult): Offered {
  const rows = asObjects(result).map((row) => offeredRow.parse(row));
  return {
    connections: [...new Set(rows.flatMap(({ connection_id: name }) => (name === null ? [] : [name])))],
    choices: rows.map(({ choice }) => choice),
    leftOut: {
      connections: rows[0]?.connections_left_out ?? 0,
      currencies: rows[0]?.currencies_left_out ?? 0,
    },
  };
}

const offeredRow = z.object({
  connection_id: z.string().nullable(),
  choice: z.string(),
  connections_left_out: z.number(),
  currencies_left_out: z.number(),
});

/** Wraps the statement of a chart so that it returns only rows that the page can show, in the same order. */
export function statementWithin(
  { sql, nameless }: Pick<Chart, 'sql' | 'nameless'>,
  { connections, choices, leftOut }: Offered,
): Statement {
  if (leftOut.connections === 0 && leftOut.currencies === 0) return sql;
  const isOfMoney = nameless !== undefined;
  return {
    text: `
select * from (${sql}
) as answer
where ${isOfMoney ? 'jsonb_build_array(connection_id, currency_code)::text = any($1)' : 'connection_id is null or connection_id = any($1)'}`,
    values: [isOfMoney ? choices : connections],
  };
}

/** Returns one sentence that says how many choices are left out. */
export function leftOutOfChoicesWords({ connections, currencies }: LeftOutOfChoices): string[] {
  const parts = [
    ...(currencies === 0 ? [] : [counted(currencies, 'rarer currency', 'rarer currencies')]),
    ...(connections === 0 ? [] : [`${counted(connections, 'connection')} with fewer documents`]),
  ];
  if (parts.length === 0) return [];
  return [
    `${parts.join(' and ')} ${connections + currencies === 1 ? 'is' : 'are'} left out of what can be chosen here: the marts have them all.`,
  ];
}
