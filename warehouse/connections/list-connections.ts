import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';

export interface ConnectionListed {
  connection_id: string;
  platform: string | null;
  org_id: string | null;
  api_address: string;
  expand_platform_data: boolean;
  created_at: Date;
  /** Seconds between two syncs; null: only on request. The same holds for the next two. */
  every_seconds: number | null;
  reconcile_every_seconds: number | null;
  backfill_every_seconds: number | null;
  /** Null: not paused. */
  paused: { why: string; since: Date } | null;
}

export async function listConnections({ db }: Warehouse): Promise<ConnectionListed[]> {
  const connections = await db
    .selectFrom('sync.connections')
    .select(['connection_id', 'platform', 'org_id', 'api_address', 'expand_platform_data', 'created_at'])
    .select([
      sql<number | null>`extract(epoch from sync_every)::bigint`.as('every_seconds'),
      sql<number | null>`extract(epoch from reconcile_every)::bigint`.as('reconcile_every_seconds'),
      sql<number | null>`extract(epoch from backfill_every)::bigint`.as('backfill_every_seconds'),
    ])
    .select(['paused_at', 'paused_why'])
    .orderBy('connection_id')
    .execute();
  return connections.map(({ paused_at: since, paused_why: why, ...connection }) => ({
    ...connection,
    paused: since === null ? null : { why: why ?? '', since },
  }));
}

/** Lists the first names, in order. */
export async function listConnectionNames(
  { db }: Warehouse,
  { limit }: { limit: number },
): Promise<string[]> {
  const connections = await db
    .selectFrom('sync.connections')
    .select('connection_id')
    .orderBy('connection_id')
    .limit(limit)
    .execute();
  return connections.map(({ connection_id }) => connection_id);
}
