import type { Warehouse } from '../open-warehouse.ts';
import type { PreparedEvents } from './prepared-events.ts';

/** Whether the events announce deletions that are all held, so that landing them again would write nothing. */
export async function holdsDeletions(
  { pool }: Pick<Warehouse, 'pool'>,
  connectionId: string,
  { deletions, refused }: PreparedEvents,
): Promise<boolean> {
  if (refused.size > 0 || deletions.size === 0) return false;
  const told = [...deletions].flatMap(([{ name }, ofResource]) =>
    ofResource.map(({ id, version }) => ({ name, id, version })),
  );
  const { rows } = await pool.query<{ holds: boolean }>({
    name: 'holds deletions',
    text: `
      select count(*) = cardinality($3::text[]) as holds
      from unnest($2::text[], $3::text[], $4::timestamptz[]) as event (resource, record_id, version)
      join lateral (
        select from sync.tombstones t
        where t.connection_id = $1 and t.resource = event.resource and t.record_id = event.record_id
          and t.version >= event.version
        offset 0
      ) held on true`,
    values: [
      connectionId,
      told.map(({ name }) => name),
      told.map(({ id }) => id),
      told.map(({ version }) => version),
    ],
  });
  return rows[0]?.holds === true;
}
