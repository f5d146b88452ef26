import { sql, type Selectable } from 'kysely';
import { inTransaction } from '../transactions/in-transaction.ts';
import { UnknownConnection } from '../errors.ts';
import { keepStreamMonthsFor } from '../history/keep-stream-months.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { lockLandings } from '../passes/lock-pass.ts';
import { retryDeadlocks } from '../transactions/retry-deadlocks.ts';
import type { AllConnectionsTable } from '../tables/connections.ts';
import type { KeptDataTable } from '../tables/kept-data.ts';
import { readKeptData } from './kept-data.ts';
import { lockName } from './lock-name.ts';

/** A removal under way; `began` tells it from others of the name. */
export interface Removal {
  readonly connectionId: string;
  /** As Postgres writes it. */
  readonly began: string;
  readonly keepsData: boolean;
}

export interface RemovalBegun {
  /** `kept data`: the connection was removed before, and what it had left goes now. */
  readonly removed: 'connection' | 'kept data' | 'nothing';
  /** Undefined when there is nothing to be done. */
  readonly removal: Removal | undefined;
}

/** Its records are going: what is left of them is not what there was. */
export class RemovedWithRecords extends Error {
  override readonly name = 'RemovedWithRecords';
  readonly handling = 'stop';

  constructor(connectionId: string) {
    super(
      `${connectionId} is being removed with its records, and what is left of them cannot be kept. Finish with "daybook connection remove ${connectionId}", without --keep-data.`,
    );
  }
}

/**
 * Marks a connection as being removed, or what one has left. From the commit on nobody finds it: no run begins, no page and no webhook
 * of it lands, and neither marts nor exports show anything of it. Its token and its identity at the service are forgotten at once, so its company may be
 * added under another name. Of a removal that was begun before it says so; without `keepData`, its records go as well then.
 *
 * Throws UnknownConnection, RemovedWithRecords.
 */
export async function beginRemoval(
  { pool }: Warehouse,
  removal: { connectionId: string; keepData: boolean },
): Promise<RemovalBegun> {
  // A pass that is taken when the landings are locked is waited for, and may wait itself.
  return retryDeadlocks(() => inTransaction(pool, ({ db }) => begin(db, removal)));
}

async function begin(
  db: Warehouse['db'],
  { connectionId, keepData }: { connectionId: string; keepData: boolean },
): Promise<RemovalBegun> {
  await lockName(db, connectionId);
  // Its passes, and after them its row: a page that lands takes them in this order.
  await lockLandings(db, connectionId);
  const found = await lockConnectionRow(db, connectionId);
  if (found === undefined) return beginWithKept(db, { connectionId, keepData });
  const begun = found.removing_at !== null;
  const foundNoData = begun
    ? found.removing_found_no_data
    : keepData && !(await hasRecords(db, connectionId));
  if (begun && keepData && !found.removing_keeps_data && !foundNoData)
    throw new RemovedWithRecords(connectionId);
  const keepsData = keepData && !foundNoData;
  if (keepsData && !begun) {
    await keepStreamMonthsFor({ db }, [connectionId]);
    const { api_address, service_connection_id, org_id, platform } = found;
    await keepIdentity(db, {
      connection_id: connectionId,
      api_address,
      service_connection_id,
      org_id,
      platform,
    });
  }
  if (!keepsData && (!begun || found.removing_keeps_data)) await forgetData(db, connectionId);
  return { removed: 'connection', removal: await mark(db, { connectionId, keepsData, foundNoData }) };
}

type Found = Pick<
  Selectable<AllConnectionsTable>,
  | 'api_address'
  | 'service_connection_id'
  | 'org_id'
  | 'platform'
  | 'removing_at'
  | 'removing_keeps_data'
  | 'removing_found_no_data'
>;

function lockConnectionRow(db: Warehouse['db'], connectionId: string): Promise<Found | undefined> {
  return db
    .selectFrom('sync.all_connections')
    .select(['api_address', 'service_connection_id', 'org_id', 'platform'])
    .select(['removing_at', 'removing_keeps_data', 'removing_found_no_data'])
    .where('connection_id', '=', connectionId)
    .forUpdate()
    .executeTakeFirst();
}

/** Begins to remove records that an earlier removal kept. The connection gets a row again, which holds the name until they are gone. */
async function beginWithKept(
  db: Warehouse['db'],
  { connectionId, keepData }: { connectionId: string; keepData: boolean },
): Promise<RemovalBegun> {
  const [kept] = await readKeptData({ db }, connectionId);
  if (kept === undefined) throw new UnknownConnection(connectionId);
  if (keepData) return { removed: 'nothing', removal: undefined };
  await db
    .insertInto('sync.all_connections')
    .values({ connection_id: connectionId, api_address: kept.api_address ?? '', token_sealed: noToken })
    .execute();
  await forgetData(db, connectionId);
  const removal = await mark(db, { connectionId, keepsData: false, foundNoData: false });
  return { removed: 'kept data', removal };
}

const noToken = Buffer.alloc(0);

async function mark(
  db: Warehouse['db'],
  {
    connectionId,
    keepsData,
    foundNoData,
  }: { connectionId: string; keepsData: boolean; foundNoData: boolean },
): Promise<Removal> {
  // Whatever reads a stream has lost its lease.
  await db.deleteFrom('sync.passes').where('connection_id', '=', connectionId).execute();
  await closeRuns(db, connectionId);
  const { began } = await db
    .updateTable('sync.all_connections')
    .set({
      removing_at: sql<Date>`coalesce(removing_at, clock_timestamp())`,
      removing_keeps_data: keepsData,
      removing_found_no_data: foundNoData,
      token_sealed: noToken,
      service_connection_id: null,
    })
    .where('connection_id', '=', connectionId)
    .returning(sql<string>`removing_at::text`.as('began'))
    .executeTakeFirstOrThrow();
  return { connectionId, began, keepsData };
}

/**
 * Work outlives the connection it was begun for: an answer on its way, a workflow that waits. It has to know its run, so that it stops when
 * another connection has the name. Of runs that have ended the last act may be still to come, or be repeated.
 */
async function closeRuns(db: Warehouse['db'], connectionId: string): Promise<void> {
  await sql`
    insert into sync.removed_runs (connection_id, run_id)
    select connection_id, run_id from sync.runs
    where connection_id = ${connectionId}
      and (finished_at is null or finished_at > clock_timestamp() - interval '1 day')
    on conflict do nothing
  `.execute(db);
}

/** Without any, there is nothing to keep. */
async function hasRecords(db: Warehouse['db'], connectionId: string): Promise<boolean> {
  const { rows } = await sql`
    select where exists (select from history.record_versions where connection_id = ${connectionId})
      or exists (select from sync.tombstones where connection_id = ${connectionId})
  `.execute(db);
  return rows.length > 0;
}

async function keepIdentity(
  db: Warehouse['db'],
  connection: Omit<Selectable<KeptDataTable>, 'removed_at'>,
): Promise<void> {
  await db
    .insertInto('sync.kept_data')
    .values(connection)
    .onConflict((conflict) => conflict.column('connection_id').doUpdateSet(connection))
    .execute();
}

/**
 * Its records are nobody's from now on: readers of some connections lose it, and who has copied it is told. Expects the landings to be
 * locked: the clocks have ticked, and no write has a later time.
 */
async function forgetData(db: Warehouse['db'], connectionId: string): Promise<void> {
  await db.deleteFrom('sync.kept_data').where('connection_id', '=', connectionId).execute();
  await db.deleteFrom('sync.reader_connections').where('connection_id', '=', connectionId).execute();
  await sql`
    insert into sync.removals as earlier (name, removed_at)
    select ${connectionId}, max(landed_at) from sync.resource_clocks where connection_id = ${connectionId}
    on conflict (name) do update set removed_at = greatest(excluded.removed_at, earlier.removed_at)
  `.execute(db);
}
