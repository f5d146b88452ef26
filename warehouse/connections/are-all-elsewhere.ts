import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';

/** Whether there are connections, none of which was added under this API address. */
export async function areAllElsewhere({ db }: Pick<Warehouse, 'db'>, apiAddress: string): Promise<boolean> {
  const { rows } = await sql<{ elsewhere: boolean }>`
    select exists (select from sync.connections)
      and not exists (select from sync.connections where api_address = ${apiAddress}) as elsewhere
  `.execute(db);
  return rows[0]?.elsewhere === true;
}
