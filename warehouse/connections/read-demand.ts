import { sql } from 'kysely';
import { streamNames } from '../../resources/index.ts';
import type { Warehouse } from '../open-warehouse.ts';

/** The API requests that scheduled syncs need if nothing has changed, and the number that the budget allows. */
export interface ApiDemand {
  readonly requests_per_minute: number;
  readonly allowed_per_minute: number;
  /** Factor by which sync intervals must be stretched to fit their share; less than 1: they fit. */
  readonly needed_stretch: number;
  /** The current factor. */
  readonly stretch: number;
}

/** Share of the budget for scheduled syncs; the rest is for reconciles, first loads, webhooks and runs that people start. */
const share = 0.8;

/**
 * Estimates the demand. A sync requests each list at least once, except those not offered. Paused connections request nothing. No connection syncs
 * more often than every ten seconds, whatever its setting, because a sync is not begun while one runs.
 */
export async function readDemand(
  { db }: Warehouse,
  { address, requestsPer10s }: { address: string; requestsPer10s: number },
): Promise<ApiDemand> {
  const { rows } = await sql<{ perMinute: number; stretch: number }>`
    select
      coalesce(sum((${streamNames.length} - coalesce(o.lists, 0)) * 60 / greatest(extract(epoch from c.sync_every), 10)), 0)::float8 as "perMinute",
      coalesce(max(c.sync_stretch), 1) as stretch
    from sync.connections c
    left join (
      select connection_id, count(*) as lists from sync.streams where capability = 'unsupported' group by connection_id
    ) o using (connection_id)
    where c.api_address = ${address} and c.sync_every is not null and c.paused_at is null
  `.execute(db);
  const { perMinute, stretch } = rows[0] ?? { perMinute: 0, stretch: 1 };
  const allowed = requestsPer10s * 6;
  return {
    requests_per_minute: Math.ceil(perMinute),
    allowed_per_minute: allowed,
    needed_stretch: Math.ceil((perMinute / (allowed * share)) * 100) / 100,
    stretch,
  };
}
