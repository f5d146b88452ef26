import { sql } from 'kysely';
import type { PoolClient } from 'pg';
import { resourceNames } from '../../resources/index.ts';
import { provedSql } from '../connections/prove-token.ts';
import { CommitsLost, ConnectionReplaced, LeaseLost, TokenNotProved, UnknownConnection } from '../errors.ts';
import { indexesOnlyColumns } from '../transactions/indexes-only.ts';
import { takeWriteTime, writeTimeSql } from '../clock/resource-clock.ts';
import type { PassInHand } from './pass.ts';
import type { Warehouse } from '../open-warehouse.ts';

export interface LockedPass {
  readonly landedAt: string;
  /** A time, in the order of writes, before which none of its pages was requested; null if a release before 0.6 requested them. */
  readonly askedAt: string | null;
}

/**
 * Locks the pass, and the connection's resource, until the transaction ends. Throws LeaseLost if another attempt has taken the pass over, so that an
 * attempt that was given up but still runs can commit nothing. What it read may be landed only if the token is `proved`.
 */
export async function lockPass(
  client: PoolClient,
  pass: PassInHand,
  resource: string,
): Promise<LockedPass & { readonly cursor: string | null; readonly proved: boolean }> {
  const { rows } = await client.query<{
    landed_at: string;
    asked_at: string | null;
    cursor: string | null;
    proved: boolean;
  }>({
    name: 'lock pass',
    text: `
      with pass as materialized (
        select asked_at, cursor from sync.passes
        where connection_id = $1 and stream = $2 and kind = $3 and part = $4 and lease = $5
        for update
      ), ${lockClock('$1', '$6', 'from pass')}, write_time as (${writeTimeSql('$1', '$6', 'from resource')}
      )
      select landed_at, (select asked_at::text from pass), (select cursor from pass), exists (select ${provedSql({ runId: '$7', token: '$8' })}) as proved
      from write_time`,
    values: [
      pass.connectionId,
      pass.stream,
      pass.kind,
      pass.part,
      pass.lease,
      resource,
      pass.runId,
      pass.token,
    ],
  });
  const [locked] = rows;
  if (locked === undefined) throw new LeaseLost(pass);
  const { landed_at: landedAt, asked_at: askedAt, cursor, proved } = locked;
  return { landedAt, askedAt, cursor, proved };
}

/**
 * Locks the same to land the page that was requested with `cursor` (null: the first one). Throws LeaseLost also if the pass is not at that cursor: a
 * standby that has taken over may have the lease, but lack the previous page. Throws TokenNotProved too.
 */
export async function lockToLand(
  client: PoolClient,
  { pass, resource, cursor }: { pass: PassInHand; resource: string; cursor: string | null },
): Promise<LockedPass> {
  const { cursor: standsAt, proved, ...locked } = await lockPass(client, pass, resource);
  if (standsAt !== cursor) throw new LeaseLost(pass);
  if (!proved) throw new TokenNotProved(pass.connectionId);
  return locked;
}

/**
 * Locks only the connection's resource, for writes of a run outside of any pass. Throws UnknownConnection if the connection was removed meanwhile,
 * ConnectionReplaced if another one has its name, because pending writes would outlive it, and CommitsLost if the run's row is lost.
 */
export async function lockResource(
  client: PoolClient,
  { connectionId, resource, runId }: { connectionId: string; resource: string; runId: string },
): Promise<{ landedAt: string }> {
  const { rows } = await client.query<{ landed_at: string }>({
    name: 'lock resource',
    text: `with ${lockClock('$1', '$2', '')}, write_time as (${writeTimeSql('$1', '$2', 'from resource')}
      )
      select landed_at from write_time`,
    values: [connectionId, resource],
  });
  // A separate statement, so that it sees what was committed while the first one waited for the lock.
  const connection = await client.query<{ isOfRun: boolean; isReplaced: boolean }>({
    name: 'connection of run',
    text: `
      select exists (select from sync.runs where run_id = $2 and connection_id = $1) as "isOfRun",
        exists (select from sync.removed_runs where run_id = $2 and connection_id = $1) as "isReplaced"
      from sync.connections where connection_id = $1`,
    values: [connectionId, runId],
  });
  const [found] = connection.rows;
  if (found === undefined) throw new UnknownConnection(connectionId);
  if (found.isReplaced) throw new ConnectionReplaced(connectionId);
  if (!found.isOfRun) throw new CommitsLost('this run');
  return { landedAt: rows[0]?.landed_at ?? '' };
}

/**
 * Waits for all landings of a connection, and blocks further ones. Locks passes before resources, in the same order as the landing of a page, so they
 * cannot deadlock.
 */
export async function lockLandings(db: Warehouse['db'], connectionId: string): Promise<void> {
  await db
    .selectFrom('sync.passes')
    .select('lease')
    .where('connection_id', '=', connectionId)
    .forUpdate()
    .execute();
  for (const resource of resourceNames) {
    await sql`select sync.wait_for_old_release(hashtextextended(${`${connectionId}/${resource}`}, 0))`.execute(
      db,
    );
    await takeWriteTime(db, { connectionId, resource });
  }
}

/**
 * Returns SQL that locks the resource's clock, so that one transaction at a time lands its records: what it finds about them stays true while it
 * writes, two readings of one resource cannot deadlock, and the order of `landedAt` is the order of commits. Readers cannot lock the clock. The lock
 * of releases before 0.6 is taken first, so that the time is later.
 *
 * Plans are made while tables are empty and kept while they grow; with the settings they use only index lookups, which stay right. A join with a list
 * of records uses `lateral … offset 0`, or takes the connection from the list (`with … as materialized (select $1 as connection_id, …)`). For a new
 * connection Postgres expects one row; if the connection were a constant, it would read all its rows for each record of the list.
 *
 * Changes that the transaction makes from here on, until it locks another resource, are counted as changes of this one (`sync.note_change`).
 */
function lockClock(connectionId: string, resource: string, from: string): string {
  return `resource as materialized (
        select
          sync.wait_for_old_release(${lockKey(connectionId, resource)}),
          ${indexesOnlyColumns},
          set_config('daybook.landing', ${resource}::text || '/' || ${connectionId}::text, true)
        ${from}
      )`;
}

function lockKey(connectionId: string, resource: string): string {
  return `hashtextextended(${connectionId}::text || '/' || ${resource}::text, 0)`;
}
