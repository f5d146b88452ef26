import type { HeldContent } from '../../resources/source-record.ts';
import type { Warehouse } from '../open-warehouse.ts';
import type { RecordScope } from '../record-scope.ts';

type Content = Pick<HeldContent, 'id' | 'hash'>;

/** Whether `finance` holds all the records with the same content, so that landing them again would write none of it. */
export async function holdsRecords(
  warehouse: Pick<Warehouse, 'pool'>,
  { records, ...scope }: RecordScope & { readonly records: readonly Content[] },
): Promise<boolean> {
  return (await heldAmong(warehouse, scope, records)).length === records.length;
}

/** Returns the records that `finance` holds with the same content. */
export async function heldAmong<Record extends Content>(
  { pool }: Pick<Warehouse, 'pool'>,
  { connectionId, resource }: RecordScope,
  records: readonly Record[],
): Promise<Record[]> {
  if (records.length === 0) return [];
  // One row for all: 500 rows, each an object here, take longer than the lookups.
  const { rows } = await pool.query<{ held: string }>({
    name: `held among ${resource.name}`,
    text: `
      select string_agg(case when held.yes then '1' else '0' end, '' order by arriving.place) as held
      from unnest($2::text[], $3::bytea[]) with ordinality as arriving (id, hash, place)
      left join lateral (
        select true as yes from finance.${resource.name} f
        where f.connection_id = $1 and f.id = arriving.id and f._content_hash = arriving.hash
        offset 0
      ) held on true`,
    values: [connectionId, records.map(({ id }) => id), records.map(({ hash }) => hash)],
  });
  const held = rows[0]?.held ?? '';
  return records.filter((_, index) => held[index] === '1');
}
