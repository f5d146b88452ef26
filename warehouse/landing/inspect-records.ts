import type { PoolClient } from 'pg';
import { currencyColumnOf, measuresOf } from '../../resources/measures.ts';
import type { ChildTable, Column, Resource } from '../../resources/resource.ts';
import type { PassInHand } from '../passes/pass.ts';
import { insertListed } from '../reconcile/list-records.ts';
import type { RecordScope } from '../record-scope.ts';
import { columnExpression } from './column-expression.ts';
import type { PreparedRecord } from './prepared-page.ts';

export interface Inspected {
  readonly id: string;
  /** Whether the rows stored in `finance` differ from the record. */
  readonly damaged: boolean;
}

/**
 * Reads records as landing would, and compares them with the stored rows, column by column and line by line. A hash cannot show a difference, because
 * it covers what was landed and not what is stored now.
 *
 * With `listedBy` it also stores the facts that prove a reconcile's listing: ID, version, currency and amounts of each record, with every digit. They
 * stay in Postgres: ten characters may stand for 5,000 digits there, which as text of a whole page take gigabytes.
 */
export async function inspectRecords(
  client: PoolClient,
  input: RecordScope & { records: readonly PreparedRecord[]; listedBy?: PassInHand | undefined },
): Promise<readonly Inspected[]> {
  const { connectionId, resource, records, listedBy } = input;
  if (records.length === 0) return [];
  const values = [connectionId, `[${records.map(({ text }) => text).join(',')}]`];
  const { rows } = await client.query<Inspected>(
    listedBy === undefined
      ? { name: `inspect ${resource.name}`, text: inspectSql(resource), values }
      : {
          name: `inspect and list ${resource.name}`,
          text: listSql(resource),
          values: [...values, listedBy.stream, listedBy.part],
        },
  );
  return rows;
}

function inspectSql(resource: Resource): string {
  return `select id, damaged from (${comparison(resource)}) inspected`;
}

function listSql(resource: Resource): string {
  return `
    with inspected as materialized (${comparison(resource)}
    ), facts as (
      select jsonb_agg(facts) as records from inspected
    ), noted as (
      ${insertListed('facts.records', { from: 'facts', stream: '$3', part: '$4' })}
    )
    select id, damaged from inspected`;
}

/**
 * Rows are compared as text, because `1.0` and `1.00` are equal numbers with different digits. The version may have moved. Each list is expanded
 * once, for the comparison and for its sums, because that takes most of the time.
 */
function comparison(resource: Resource): string {
  const columns = resource.columns.filter(({ name }) => name !== resource.version);
  const currency = currencyColumnOf(resource);
  const facts = [
    `record ->> 'id'`,
    `record ->> '${resource.version}'`,
    currency === undefined ? 'null' : columnExpression(currency, 'record'),
    ...measuresOf(resource).map(({ column, table }) =>
      table === null ? columnExpression(column, 'record') : `"${table}"."${column.name}"`,
    ),
  ];
  return `
    select arriving.id, jsonb_build_array(${facts.join(', ')}) as facts, coalesce(
      held.stored <> row(${columns.map((column) => columnExpression(column, 'record')).join(', ')})::text
      ${resource.children.map(({ table }) => `or "${table}".lines is distinct from "stored ${table}".lines`).join('\n      ')},
      false
    ) as damaged
    from (
      select record, record ->> 'id' as id from jsonb_array_elements($2::jsonb) as page (record)
    ) arriving
    left join lateral (
      select row(${columns.map(({ name }) => `f.${name}`).join(', ')})::text as stored
      from finance.${resource.name} f
      where f.connection_id = $1 and f.id = arriving.id
      offset 0
    ) held on true
    ${resource.children.map(joinLists).join('\n    ')}`;
}

/** Joins the lines of a list as they arrive, with the sums of their amounts, and as they are stored. */
function joinLists(child: ChildTable): string {
  const sums = child.columns
    .filter(({ kind }) => kind === 'amount')
    .map((column) => `, sum(${elementExpression(column)}) as "${column.name}"`);
  const arriving = ['list.place - 1', ...child.columns.map(elementExpression)];
  const stored = ['s.position', ...child.columns.map(({ name }) => `s."${name}"`)];
  return `cross join lateral (
      select string_agg(row(${arriving.join(', ')})::text, ' ' order by list.place) as lines ${sums.join('')}
      from jsonb_array_elements(nullif(arriving.record -> '${child.from}', 'null'))
        with ordinality as list (element, place)
    ) "${child.table}"
    cross join lateral (
      select string_agg(row(${stored.join(', ')})::text, ' ' order by s.position) as lines
      from finance.${child.table} s
      where s.connection_id = $1 and s.${child.parentKey} = arriving.id
    ) "stored ${child.table}"`;
}

function elementExpression(column: Column): string {
  return columnExpression(column, 'list.element');
}
