import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { peakMegabytes } from '../../support/process-cost.ts';
import type { TestServers } from '../../support/own-servers.ts';
import type { Processes } from '../../day/processes.ts';

/** Seconds since connections were last completely read. Null: the connection at that rank never was. */
export interface Ages {
  readonly median: number | null;
  readonly p95: number | null;
  readonly oldest: number | null;
}

export async function measureAges(
  { warehouse }: Pick<TestServers, 'warehouse'>,
  { except }: { except: readonly string[] },
): Promise<Ages> {
  const { rows } = await warehouse.pool.query<{ median: number; p95: number; oldest: number }>(
    `select percentile_disc(0.5) within group (order by age) as median, percentile_disc(0.95) within group (order by age) as p95,
       percentile_disc(1) within group (order by age) as oldest
     from (
       select coalesce(extract(epoch from now() - complete_at), 'infinity')::float8 as age
       from sync.connections
       left join (
         select connection_id, case when bool_and(last_success_at is not null) then min(last_success_at) end as complete_at
         from sync.streams where capability <> 'unsupported' group by connection_id
       ) s using (connection_id)
       where connection_id <> all($1)
     ) connection`,
    [except],
  );
  const [found] = rows;
  const whole = (age = Infinity): number | null => (age === Infinity ? null : Math.round(age));
  return { median: whole(found?.median), p95: whole(found?.p95), oldest: whole(found?.oldest) };
}

/** The number of connections that no sync has completely read since `since`. */
export async function notReadSince(
  { warehouse }: Pick<TestServers, 'warehouse'>,
  since: Date,
): Promise<number> {
  const { rows } = await warehouse.pool.query<{ left: number }>(
    `select count(*)::int as left
     from sync.connections c
     where not exists (
       select from sync.runs r
       where r.connection_id = c.connection_id and r.kind = 'sync' and r.status = 'succeeded' and r.started_at > $1
     )`,
    [since],
  );
  return rows[0]?.left ?? 0;
}

export interface Sizes {
  /** The peak memory of each process that runs now. */
  readonly processMegabytes: readonly number[];
  readonly warehouseMegabytes: number;
  readonly temporalMegabytes: number;
}

export async function measureSizes({
  warehouse,
  folder,
  processes,
}: TestServers & { processes: Processes }): Promise<Sizes> {
  const pids = await processes.pids();
  const { rows } = await warehouse.pool.query<{ bytes: string }>(
    'select pg_database_size(current_database())::text as bytes',
  );
  const { size } = await stat(join(folder, 'temporal.db'));
  return {
    // A process may have ended by itself; `processes.stop` reports that.
    processMegabytes: await Promise.all(
      pids.map(async (pid) => Math.round(await peakMegabytes(pid).catch(() => 0))),
    ),
    warehouseMegabytes: Math.round(Number(rows[0]?.bytes) / 1e6),
    temporalMegabytes: Math.round(size / 1e6),
  };
}
