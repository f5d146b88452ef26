import type { Pool, PoolClient } from 'pg';
import { rowsPerBatch } from '../rows-per-batch.ts';

/** Rows that are over and old; `$1` is the cutoff. */
export interface ExpiredRows {
  /** Selects their keys, the oldest first, without a limit. */
  readonly keys: string;
  /** By table, what goes with each key. */
  readonly tables: Readonly<Record<string, string>>;
  /** Instead of removing the rows: what is set, so that they are not selected again. */
  readonly emptied?: string;
}

/** Of every connection the newest finished run `r` of each kind stays, however old: it says how fresh the data is. */
export const isNotNewest = `
  exists (
    select from sync.runs newer
    where coalesce(newer.connection_id, '') = coalesce(r.connection_id, '') and newer.kind = r.kind
      and newer.target is not distinct from r.target
      and newer.finished_at is not null and newer.status <> 'running'
      and (newer.finished_at, newer.run_id) > (r.finished_at, r.run_id)
  )`;

/** A reconcile whose findings wait for approval stays too. */
const runs: ExpiredRows = {
  keys: `
    select r.run_id as key
    from sync.runs r
    where r.finished_at < $1::timestamptz and r.status <> 'running' and ${isNotNewest}
      and not exists (
        select from sync.discrepancies d
        where d.connection_id = r.connection_id and d.run_id = r.run_id and d.closed_at is null
      )
    order by r.finished_at`,
  tables: { 'sync.runs': 'run_id', 'sync.run_streams': 'run_id' },
};

/**
 * A quiet stream begins with the same records again and again, and a discarded entry keeps them from opening another: it
 * stays until the watermark has left it behind.
 */
const quarantine: ExpiredRows = {
  keys: `
    select q.id as key
    from sync.quarantine q
    where q.closed_at < $1::timestamptz and q.status <> 'open' and q.discarded_content is null
      and (q.status = 'landed' or q.closed_at + (now() - $1::timestamptz) < (
        select s.watermark from sync.streams s
        where s.connection_id = q.connection_id and s.stream = q.stream
      ))
    order by q.closed_at`,
  tables: { 'sync.quarantine': 'id' },
};

/** That a person did not want it stays known: only the hash of its content does, and the record itself goes. */
const discarded: ExpiredRows = {
  keys: `
    select q.id as key
    from sync.quarantine q
    where q.closed_at < $1::timestamptz and q.discarded_content is not null and q.payload <> ''
    order by q.closed_at`,
  tables: { 'sync.quarantine': 'id' },
  emptied: `payload = ''`,
};

const discrepancies: ExpiredRows = {
  keys: `
    select d.id as key
    from sync.discrepancies d
    where d.closed_at < $1::timestamptz
    order by d.closed_at`,
  tables: { 'sync.discrepancies': 'id' },
};

const webhooks: ExpiredRows = {
  keys: `
    select w.id as key
    from sync.webhook_inbox w
    where w.closed_at < $1::timestamptz and w.status <> 'waiting'
    order by w.closed_at`,
  tables: { 'sync.webhook_inbox': 'id' },
};

const alerts: ExpiredRows = {
  keys: `
    select a.id as key
    from sync.alerts a
    where a.resolved_at < $1::timestamptz
    order by a.resolved_at`,
  tables: { 'sync.alerts': 'id' },
};

export const expired: readonly ExpiredRows[] = [
  ...[runs, quarantine, discarded],
  ...[discrepancies, webhooks, alerts],
];

/** How many rows there are, by table. */
export async function countExpired(
  pool: Pool,
  { rows: { keys, tables }, cutoff }: { rows: ExpiredRows; cutoff: string },
): Promise<Record<string, number>> {
  const counts = Object.entries(tables).map(
    ([table, key]) =>
      `(select count(*) from ${table} where ${key} in (select key from expired)) as "${table}"`,
  );
  const { rows } = await pool.query<Record<string, number>>(
    `with expired as materialized (${keys}) select ${counts.join(', ')}`,
    [cutoff],
  );
  return rows[0] ?? {};
}

/** Removes one batch; says how many rows went, by table. Two that prune at once take different rows. */
export async function removeExpired(
  client: PoolClient,
  { rows, cutoff }: { rows: ExpiredRows; cutoff: string },
): Promise<Record<string, number>> {
  const result = await client.query<Record<string, number>>(removeSql(rows), [cutoff, rowsPerBatch]);
  return result.rows[0] ?? {};
}

export function removeSql({ keys, tables, emptied }: ExpiredRows): string {
  const entries = Object.entries(tables);
  const removals = entries.map(
    ([table, key], index) => `
    removed_${index} as (
      ${emptied === undefined ? `delete from ${table}` : `update ${table} set ${emptied}`} where ${key} = any(array(select key from expired)) returning 1
    )`,
  );
  const counts = entries.map(([table], index) => `(select count(*) from removed_${index}) as "${table}"`);
  return `
    with expired as materialized (${keys} limit $2 for update skip locked),
    ${removals.join(',')}
    select ${counts.join(', ')}`;
}
