import type { PoolClient } from 'pg';
import { currencyColumnOf, measuresOf, type Measure } from '../../resources/measures.ts';
import type { Resource } from '../../resources/resource.ts';
import { columnExpression } from '../landing/column-expression.ts';
import type { PreparedRecord } from '../landing/prepared-page.ts';
import type { PassInHand } from '../passes/pass.ts';

/**
 * Notes what a page of a reconcile's listing showed: of each record its id, version, currency and amounts, as the API sent
 * them. Records that could not land are noted too, by their ids alone: they are not absent.
 */
export async function listRecords(
  client: PoolClient,
  input: {
    pass: PassInHand;
    resource: Resource;
    records: readonly PreparedRecord[];
    refusedIds: readonly string[];
  },
): Promise<void> {
  const { pass, resource, records, refusedIds } = input;
  await client.query({
    name: `list ${resource.name}`,
    text: listSql(resource),
    values: [
      pass.connectionId,
      pass.stream,
      pass.part,
      `[${records.map(({ text }) => text).join(',')}]`,
      refusedIds,
    ],
  });
}

/** One row a page, not one a record: a million of them would cost as much as the landing. */
function listSql(resource: Resource): string {
  const currency = currencyColumnOf(resource);
  const code = currency === undefined ? 'null' : columnExpression(currency, 'record');
  const measures = measuresOf(resource).map((measure) => sumOf(resource, measure));
  return `
    insert into sync.listed_pages (connection_id, stream, listing, page, records)
    select $1, $2, p.listing, p.pages, coalesce((
      select jsonb_agg(listed.entry) from (
        select jsonb_build_array(record ->> 'id', record ->> '${resource.version}', ${[code, ...measures].join(', ')}) as entry
        from jsonb_array_elements($4::jsonb) as page (record)
        union all
        select jsonb_build_array(refused.id) from unnest($5::text[]) as refused (id)
      ) listed
    ), '[]')
    from sync.passes p
    where p.connection_id = $1 and p.stream = $2 and p.kind = 'reconcile' and p.part = $3`;
}

function sumOf(resource: Resource, { column, table }: Measure): string {
  if (table === null) return columnExpression(column, 'record');
  const child = resource.children.find((one) => one.table === table);
  return `(
          select sum(${columnExpression(column, 'list.element')})
          from jsonb_array_elements(nullif(record -> '${child?.from ?? ''}', 'null')) as list (element)
        )`;
}
