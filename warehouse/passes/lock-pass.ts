import { sql } from 'kysely';
import type { PoolClient } from 'pg';
import { resourceNames } from '../../resources/index.ts';
import { provedSql } from '../connections/prove-token.ts';
import { CommitsLost, ConnectionReplaced, LeaseLost, TokenNotProved, UnknownConnection } from '../errors.ts';
import { indexesOnlyColumns } from '../transactions/indexes-only.ts';
import { tick, tickSql } from '../clock/resource-clock.ts';
import type { PassInHand } from './pass.ts';
import type { Warehouse } from '../open-warehouse.ts';

export interface LockedPass {
  readonly landedAt: string;
  /** None of the answers of its pages was asked for before, in the order of writes; null where a release before 0.6 asked. */
  readonly askedAt: string | null;
}

/**
 * Locks the pass, and the connection's resource, until the transaction ends. Throws LeaseLost when another attempt has
 * taken the pass over, so an attempt that was given up but still runs can commit nothing. Only with a `proved` token may what it
 * read be landed.
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
      ), ${lockOf('$1', '$6', 'from pass')}, ticked as (${tickSql('$1', '$6', 'from resource')}
      )
      select landed_at, (select asked_at::text from pass), (select cursor from pass), exists (select ${provedSql({ runId: '$7', token: '$8' })}) as proved
      from ticked`,
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
 * The same for what lands the page that was asked for with `cursor` (null: the first one). Throws LeaseLost too where the pass does not
 * stand at it: a standby that has taken over may have the lease, and lack the page before. Throws TokenNotProved too.
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
 * Locks the connection's resource alone, for what a run writes outside of any pass. Throws UnknownConnection when the connection was
 * removed meanwhile, ConnectionReplaced when another one has its name, for what was on its way would outlive it, and CommitsLost when the row of
 * the run is lost.
 */
export async function lockResource(
  client: PoolClient,
  { connectionId, resource, runId }: { connectionId: string; resource: string; runId: string },
): Promise<{ landedAt: string }> {
  const { rows } = await client.query<{ landed_at: string }>({
    name: 'lock resource',
    text: `with ${lockOf('$1', '$2', '')}, ticked as (${tickSql('$1', '$2', 'from resource')}
      )
      select landed_at from ticked`,
    values: [connectionId, resource],
  });
  // A statement of its own: it sees what was committed while the one before waited for the lock.
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
 * Waits for everything that is landing records of a connection, and keeps more from landing. Locks passes before resources, as a page that lands
 * does: one order for all, so they cannot deadlock.
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
    await tick(db, { connectionId, resource });
  }
}

/**
 * One transaction at a time lands records of a resource: what it finds about them stays true while it writes, two
 * readings of one resource cannot deadlock, and the order of `landedAt` is the order of commits. It is the clock of the resource
 * that is locked, which readers cannot do; what releases before 0.6 lock is locked before, so that its time is later.
 *
 * Plans are made while tables are empty and kept while they grow: with the settings, only index look-ups, which stay right. What is joined to a
 * list of records is looked up by `lateral … offset 0`, or names the connection by the list (`with … as materialized (select $1 as connection_id, …)`):
 * of a connection that is new Postgres expects one row, and where it is a constant, would go through all its rows for each record of the list.
 *
 * What the transaction changes from here on, until it locks another resource, is counted as a change of this one (`sync.note_change`).
 */
function lockOf(connectionId: string, resource: string, from: string): string {
  return `resource as materialized (
        select
          sync.wait_for_old_release(${keyOf(connectionId, resource)}),
          ${indexesOnlyColumns},
          set_config('daybook.landing', ${resource}::text || '/' || ${connectionId}::text, true)
        ${from}
      )`;
}

function keyOf(connectionId: string, resource: string): string {
  return `hashtextextended(${connectionId}::text || '/' || ${resource}::text, 0)`;
}
