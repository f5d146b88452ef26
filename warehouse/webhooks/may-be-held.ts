import { streamsOf } from '../../resources/streams-of.ts';
import type { Warehouse } from '../open-warehouse.ts';
import type { RecordScope } from '../record-scope.ts';

/** Whether a record is held, or may be on its way because a list of its resource is being read. */
export async function mayBeHeld(
  { pool }: Warehouse,
  { connectionId, resource, id }: RecordScope & { readonly id: string },
): Promise<boolean> {
  const { rows } = await pool.query<{ may: boolean }>({
    name: `may be held ${resource.name}`,
    text: `
      select exists (select from finance.${resource.name} where connection_id = $1 and id = $2)
        or exists (
          select from sync.passes join sync.runs using (run_id)
          where passes.connection_id = $1 and stream = any($3::text[]) and status = 'running'
        ) as may`,
    values: [connectionId, id, streamsOf(resource)],
  });
  return rows[0]?.may === true;
}
