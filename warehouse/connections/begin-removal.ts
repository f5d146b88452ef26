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

/** A removal under way; `began` tells it from other removals of the same name. */
export interface Removal {
  readonly connectionId: string;
  /** A timestamp as Postgres writes it. */
  readonly began: string;
  readonly keepsData: boolean;
}

export interface RemovalBegun {
  /** `kept data`: the connection was removed earlier, and the data it left is deleted now. */
  readonly removed: 'connection' | 'kept data' | 'nothing';
  /** Undefined if there is nothing to do. */
  readonly removal: Removal | undefined;
}

/** Thrown when the records are already being deleted, so that they cannot be kept any more. */
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
 * Marks a connection, or the data that a removed one left, as being removed. After the commit no query finds it: no run begins, no page or webhook of
 * it lands, and neither marts nor exports show it. Its token and its identity at the service are deleted at once, so its company may be added under
 * another name. If a removal had already begun, the result describes that one; without `keepData`, it then deletes the records as well.
 *
 * Throws UnknownConnection, RemovedWithRecords.
 */
export async function beginRemoval(
  { pool }: Warehouse,
  removal: { connectionId: string; keepData: boolean },
): Promise<RemovalBegun> {
  // Locking the landings waits for a pass that is being taken, and that pass may be waiting too.
  return retryDeadlocks(() => inTransaction(pool, ({ db }) => begin(db, removal)));
}

async function begin(
  db: Warehouse['db'],
  { connectionId, keepData }: { connectionId: string; keepData: boolean },
): Promise<RemovalBegun> {
  await lockName(db, connectionId);
  // Passes are locked before the connection's row: the same order as in the landing of a page.
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
  await forgetWebhooksBefore(db, found.service_connection_id);
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

/** Begins to remove records that an earlier removal kept. The connection gets a row again, which reserves the name until they are gone. */
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
  await forgetWebhooksBefore(db, kept.service_connection_id);
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
  // Readers of streams lose their lease.
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
 * Records the runs in `sync.removed_runs`. Pending answers and waiting workflows outlive the connection, and must stop if another one has its name. A
 * run that has ended may still repeat its last step, so runs of the last day are included.
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

/** Deletes webhooks about the company that came before anybody knew that it is this connection's; no row names the connection. */
async function forgetWebhooksBefore(db: Warehouse['db'], serviceConnectionId: string | null): Promise<void> {
  await db
    .deleteFrom('sync.webhook_inbox')
    .where('connection_id', 'is', null)
    .where('service_connection_id', '=', serviceConnectionId)
    .execute();
}

/** Whether there are records to keep. */
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
 * Makes the records belong to nobody: readers of single connections lose access, and consumers with copies are told. Expects the landings to be
 * locked: the times of the last writes are taken, and no write has a later time.
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
