import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';
import type { Removal } from './begin-removal.ts';

/** A removal that is not over: its process is at work, or was killed. */
export interface RemovalListed extends Removal {
  readonly since: Date;
}

export async function listRemovals({ db }: Pick<Warehouse, 'db'>): Promise<RemovalListed[]> {
  const { rows } = await sql<RemovalListed>`
    select connection_id as "connectionId", removing_at::text as began, removing_keeps_data as "keepsData",
      removing_at as since
    from sync.all_connections
    where removing_at is not null
    order by connection_id
  `.execute(db);
  return rows;
}
