import type { Pool, PoolClient } from 'pg';
import { rowsPerBatch } from '../transactions/rows-per-batch.ts';

/** Rows that are closed and old; `$1` is the cutoff. */
export interface ExpiredRows {
  /** The table with its alias and the condition, without an order. */
  readonly rows: string;
  readonly key: string;
  /** The column that says when they were closed. It has an index, by which the oldest go first. */
  readonly over: string;
  /** The tables from which rows go with each key, with their key columns. */
  readonly tables: Readonly<Record<string, string>>;
  /** The assignment that empties the rows instead of removing them, so that they are not selected again. */
  readonly emptied?: string;
}

/** Run `r` is not the newest finished run of its kind and connection. The newest one is kept, however old, because it says how fresh the data is. */
export const isNotNewest = `
  exists (
    select from sync.runs newer
    where coalesce(newer.connection_id, '') = coalesce(r.connection_id, '') and newer.kind = r.kind
      and newer.target is not distinct from r.target
      and newer.finished_at is not null and newer.status <> 'running'
      and (newer.finished_at, newer.run_id) > (r.finished_at, r.run_id)
  )`;

/**
 * A reconcile whose findings wait for approval stays too. Findings are looked up by the run alone: by its connection, the planner might read all the
 * connection has.
 */
const runs: ExpiredRows = {
  rows: `
    sync.runs r
    where r.finished_at < $1::timestamptz and r.status <> 'running' and ${isNotNewest}
      and not exists (
        select from sync.discrepancies d
        where d.run_id = r.run_id and d.closed_at is null
      )`,
  key: 'r.run_id',
  over: 'r.finished_at',
  tables: { 'sync.runs': 'run_id', 'sync.run_streams': 'run_id' },
};

/**
 * A quiet stream begins with the same records again and again, and a discarded entry keeps them from opening another one. It stays until the
 * watermark is past it.
 */
const quarantine: ExpiredRows = {
  rows: `
    sync.quarantine q
    where q.closed_at < $1::timestamptz and q.status <> 'open' and q.discarded_content is null
      and (q.status = 'landed' or q.closed_at + (now() - $1::timestamptz) < (
        select s.watermark from sync.streams s
        where s.connection_id = q.connection_id and s.stream = q.stream
      ))`,
  key: 'q.id',
  over: 'q.closed_at',
  tables: { 'sync.quarantine': 'id' },
};

/** A person's decision stays known by the hash of the content, while the record itself goes. */
const discarded: ExpiredRows = {
  rows: `
    sync.quarantine q
    where q.closed_at < $1::timestamptz and q.discarded_content is not null and q.payload <> ''`,
  key: 'q.id',
  over: 'q.closed_at',
  tables: { 'sync.quarantine': 'id' },
  emptied: `payload = ''`,
};

const discrepancies: ExpiredRows = {
  rows: `
    sync.discrepancies d
    where d.closed_at < $1::timestamptz`,
  key: 'd.id',
  over: 'd.closed_at',
  tables: { 'sync.discrepancies': 'id' },
};

const webhooks: ExpiredRows = {
  rows: `
    sync.webhook_inbox w
    where w.closed_at < $1::timestamptz and w.status <> 'waiting'`,
  key: 'w.id',
  over: 'w.closed_at',
  tables: { 'sync.webhook_inbox': 'id' },
};

const alerts: ExpiredRows = {
  rows: `
    sync.alerts a
    where a.resolved_at < $1::timestamptz`,
  key: 'a.id',
  over: 'a.resolved_at',
  tables: { 'sync.alerts': 'id' },
};

export const expired: readonly ExpiredRows[] = [runs, quarantine, discarded, discrepancies, webhooks, alerts];

/** Counts the rows by table. */
export async function countExpired(
  pool: Pool,
  { expired: { rows: those, key: keyOf, tables }, cutoff }: { expired: ExpiredRows; cutoff: string },
): Promise<Record<string, number>> {
  const counts = Object.entries(tables).map(
    ([table, key]) =>
      `(select count(*) from ${table} where ${key} in (select key from expired)) as "${table}"`,
  );
  const { rows } = await pool.query<Record<string, number>>(
    `with expired as materialized (select ${keyOf} as key from ${those}) select ${counts.join(', ')}`,
    [cutoff],
  );
  return rows[0] ?? {};
}

/** Before the first row that was ever closed. */
export const beginningOfTime = '-infinity';

/**
 * Removes one batch of rows that were closed at `from` or later. Returns how many rows went, by table, and up to when; `until` is null if there were
 * none. The next batch begins there, so rows that stay, perhaps millions of one company, are passed only once. Concurrent prunes take different rows.
 */
export async function removeExpired(
  client: PoolClient,
  { expired: those, cutoff, from }: { expired: ExpiredRows; cutoff: string; from: string },
): Promise<{ removed: Record<string, number>; until: string | null }> {
  const { rows } = await client.query<{ removed: Record<string, number>; until: string | null }>(
    removeSql(those),
    [cutoff, rowsPerBatch, from],
  );
  return rows[0] ?? { removed: {}, until: null };
}

export function removeSql({ rows, key: keyOf, over, tables, emptied }: ExpiredRows): string {
  const entries = Object.entries(tables);
  const removals = entries.map(
    ([table, key], index) => `
    removed_${index} as (
      ${emptied === undefined ? `delete from ${table}` : `update ${table} set ${emptied}`} where ${key} = any(array(select key from expired)) returning 1
    )`,
  );
  const counts = entries.map(([table], index) => `'${table}', (select count(*) from removed_${index})`);
  return `
    with expired as materialized (
      select ${keyOf} as key, ${over} as over
      from ${rows} and ${over} >= $3::timestamptz
      order by ${over}
      limit $2
      for update skip locked
    ),
    ${removals.join(',')}
    select json_build_object(${counts.join(', ')}) as removed, (select max(over)::text from expired) as until`;
}
