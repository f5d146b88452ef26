import { sql } from 'kysely';
import { streamNames } from '../../resources/index.ts';
import type { Warehouse } from '../open-warehouse.ts';

/** What scheduled syncs ask of the API when nothing has changed, beside what its budget allows. */
export interface ApiDemand {
  readonly requests_per_minute: number;
  readonly allowed_per_minute: number;
  /** Rounded up; null where they fit the budget: how many times as long as set a sync has to wait for the next, on average. */
  readonly times_longer: number | null;
}

/**
 * A sync asks each list at least once, but for those that are not offered. Paused connections ask nothing; reconciles, first
 * loads, webhooks and what people start come on top.
 */
export async function readDemand(
  { db }: Warehouse,
  { address, requestsPer10s }: { address: string; requestsPer10s: number },
): Promise<ApiDemand> {
  const { rows } = await sql<{ perMinute: number }>`
    select coalesce(sum((${streamNames.length} - coalesce(o.lists, 0)) * 60 / extract(epoch from c.sync_every)), 0)::float8 as "perMinute"
    from sync.connections c
    left join (
      select connection_id, count(*) as lists from sync.streams where capability = 'unsupported' group by connection_id
    ) o using (connection_id)
    where c.api_address = ${address} and c.sync_every is not null and c.paused_at is null
  `.execute(db);
  const asked = rows[0]?.perMinute ?? 0;
  const allowed = requestsPer10s * 6;
  return {
    requests_per_minute: Math.ceil(asked),
    allowed_per_minute: allowed,
    times_longer: asked > allowed ? Math.ceil((asked / allowed) * 10) / 10 : null,
  };
}
