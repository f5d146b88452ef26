import type { SourceOperation } from './source-operation.ts';
import type { DayEnvironment } from './open-day-environment.ts';

export interface Summary {
  /** The number of ended syncs of the connection with the fewest. */
  readonly ticks: number;
  /** The number of changed records, by kind. */
  readonly deeds: Readonly<Record<string, number>>;
  readonly kills: number;
  /** Requests that met a fault. */
  readonly faults: number;
  readonly requests: number;
  /** The number of runs, by kind and status: `sync succeeded`. */
  readonly runs: Readonly<Record<string, number>>;
  readonly minutes: number;
}

export async function summarize(
  environment: DayEnvironment,
  { operations, started }: { operations: readonly SourceOperation[]; started: number },
): Promise<Summary> {
  const { admin, warehouse, processes } = environment;
  const requests = await admin.requests();
  const { rows } = await warehouse.pool.query<{ run: string }>(
    `select kind || ' ' || status as run from sync.runs order by 1`,
  );
  return {
    ticks: await countTicks(environment),
    deeds: countByName(operations.map(({ kind }) => kind)),
    kills: processes.kills(),
    faults: requests.filter(({ fault }) => fault !== null).length,
    requests: requests.length,
    runs: countByName(rows.map(({ run }) => run)),
    minutes: Math.round((performance.now() - started) / 6_000) / 10,
  };
}

/** The number of ended syncs of the connection with the fewest. */
export async function countTicks({ warehouse }: Pick<DayEnvironment, 'warehouse'>): Promise<number> {
  const { rows } = await warehouse.pool.query<{ ticks: number }>(
    `select coalesce(min(ticks), 0)::int as ticks
     from (
       select count(r.run_id) as ticks
       from sync.connections c
       left join sync.runs r on r.connection_id = c.connection_id and r.kind = 'sync' and r.status <> 'running'
       group by c.connection_id
     ) connection`,
  );
  return rows[0]?.ticks ?? 0;
}

function countByName(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
