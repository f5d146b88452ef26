import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';

/** Locks a connection's name, so that one transaction at a time adds or removes a connection of this name. */
export async function lockName(db: Warehouse['db'], connectionId: string): Promise<void> {
  await sql`select sync.lock('name/' || ${connectionId})`.execute(db);
}
