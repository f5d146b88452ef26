import type { PoolClient } from 'pg';
import type { ChildTable, Resource } from '../../resources/resource.ts';
import { columnExpression } from './column-expression.ts';
import type { PreparedRecord } from './prepared-page.ts';

/**
 * Of records that the warehouse holds: the ids of those whose stored columns or lists are not what the record says, digit by
 * digit. A hash cannot tell, for it says what was landed and not what stands there now.
 */
export async function checkStored(
  client: PoolClient,
  input: { connectionId: string; resource: Resource; records: readonly PreparedRecord[] },
): Promise<Set<string>> {
  const { connectionId, resource, records } = input;
  if (records.length === 0) return new Set();
  const { rows } = await client.query<{ id: string }>({
    name: `check ${resource.name}`,
    text: checkSql(resource),
    values: [connectionId, `[${records.map(({ text }) => text).join(',')}]`],
  });
  return new Set(rows.map(({ id }) => id));
}

/** Rows are compared as text: `1.0` and `1.00` are equal numbers and not the same digits. The version may have moved. */
function checkSql(resource: Resource): string {
  const columns = resource.columns.filter(({ name }) => name !== resource.version);
  return `
    with arriving as materialized (
      select record, record ->> 'id' as id from jsonb_array_elements($2::jsonb) as page (record)
    )
    select arriving.id
    from arriving
    cross join lateral (
      select row(${columns.map(({ name }) => `f.${name}`).join(', ')})::text as stored
      from finance.${resource.name} f
      where f.connection_id = $1 and f.id = arriving.id
      offset 0
    ) held
    where held.stored <> row(${columns.map((column) => columnExpression(column, 'arriving.record')).join(', ')})::text
      ${resource.children.map(childDiffers).join('\n      ')}`;
}

function childDiffers(child: ChildTable): string {
  const names = child.columns.map(({ name }) => `stored."${name}"`);
  const values = child.columns.map((column) => columnExpression(column, 'list.element'));
  return `or (
        select string_agg(row(stored.position, ${names.join(', ')})::text, ' ' order by stored.position)
        from finance.${child.table} stored
        where stored.connection_id = $1 and stored.${child.parentKey} = arriving.id
      ) is distinct from (
        select string_agg(row(list.place - 1, ${values.join(', ')})::text, ' ' order by list.place)
        from jsonb_array_elements(nullif(arriving.record -> '${child.from}', 'null'))
          with ordinality as list (element, place)
      )`;
}
