import { sql, type RawBuilder } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';
import { listedInQuarantine } from '../quarantine/listed-in-quarantine.ts';
import { stale } from './stale.ts';

/** The filters of a list of connections. */
export const connectionFilters = [
  'needs you',
  'failing',
  'stale',
  'paused',
  'quarantine',
  'running',
] as const;

export type ConnectionFilter = (typeof connectionFilters)[number];

export interface Ranking {
  /** Names on the requested page: first the connections that need a person, then the others, each group by name. */
  readonly names: readonly string[];
  /** Number of connections that match the filter and the search, on all pages. */
  readonly matching: number;
  /** Number of all connections. */
  readonly connections: number;
  /** Number of all connections in each state. */
  readonly counts: Readonly<Record<ConnectionFilter, number>>;
}

/**
 * Selects the connections to show. One statement covers all of them and reads only what decides their states.
 *
 * `pausedElsewhere` are connections whose schedule is paused in Temporal, which the database does not know.
 */
export async function rankConnections(
  { db }: Warehouse,
  input: {
    pausedElsewhere: readonly string[];
    filter?: ConnectionFilter | undefined;
    /** A part of the name. */
    search?: string | undefined;
    limit: number;
    offset?: number;
  },
): Promise<Ranking> {
  const { pausedElsewhere, filter, search = '', limit, offset = 0 } = input;
  const { rows } = await sql<RankingRow>`
    with judged as materialized (
      select connection_id, failures > 0 as failing, paused_at is not null or elsewhere.name is not null as paused,
        ${stale} and elsewhere.name is null as stale,
        paused_by is not distinct from 'daybook' as paused_itself,
        alerted.connection_id is not null as alerted, held.connection_id is not null as quarantined,
        running.connection_id is not null as running
      from sync.connections
      left join (select distinct unnest(${[...pausedElsewhere]}::text[]) as name) elsewhere on elsewhere.name = connection_id
      left join (select distinct connection_id from sync.alerts where resolved_at is null) alerted using (connection_id)
      left join (select distinct connection_id from (${listedInQuarantine}) listed) held using (connection_id)
      left join (select distinct connection_id from sync.runs where status = 'running' and kind <> 'webhook') running using (connection_id)
    ), states as materialized (
      select *, alerted or failing or stale or paused_itself as needy from judged
    ), matching as materialized (
      select connection_id, needy from states
      where ${filter === undefined ? sql`true` : columns[filter]} and strpos(connection_id, ${search}) > 0
    )
    select
      array(
        select connection_id from matching order by needy desc, connection_id limit ${limit} offset ${offset}
      ) as names,
      (select count(*) from matching) as matching,
      count(*) as connections,
      ${sql.join(
        connectionFilters.map((name) => sql`count(*) filter (where ${columns[name]}) as ${sql.id(name)}`),
      )}
    from states
  `.execute(db);
  const [{ names, matching, connections, ...counts } = nothing] = rows;
  return { names, matching, connections, counts };
}

const columns: Readonly<Record<ConnectionFilter, RawBuilder<boolean>>> = {
  'needs you': sql`needy`,
  failing: sql`failing`,
  stale: sql`stale`,
  paused: sql`paused`,
  quarantine: sql`quarantined`,
  running: sql`running`,
};

type RankingRow = { names: string[]; matching: number; connections: number } & Record<
  ConnectionFilter,
  number
>;

const nothing: RankingRow = {
  names: [],
  matching: 0,
  connections: 0,
  'needs you': 0,
  failing: 0,
  stale: 0,
  paused: 0,
  quarantine: 0,
  running: 0,
};
