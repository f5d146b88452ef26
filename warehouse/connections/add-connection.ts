import { sql } from 'kysely';
import { inTransaction } from '../transactions/in-transaction.ts';
import { resourceNames, resources } from '../../resources/index.ts';
import { IdentityInUse } from '../errors.ts';
import { openStreams } from '../passes/open-streams.ts';
import { checkSecretKey } from '../secrets/check-secret-key.ts';
import { sealToken } from '../secrets/sealed-token.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { formatInterval } from './interval.ts';
import { readKeptData, type KeptData } from './kept-data.ts';
import { lockName } from './lock-name.ts';

export class ConnectionExists extends Error {
  override readonly name = 'ConnectionExists';
  readonly handling = 'stop';

  constructor(connectionId: string) {
    super(
      `There is a connection ${connectionId} already. Change its token with "daybook connection set-token ${connectionId}", or pick another name.`,
    );
  }
}

/** Thrown while rows of the connection that had the name are still there. */
export class ConnectionBeingRemoved extends Error {
  override readonly name = 'ConnectionBeingRemoved';
  readonly handling = 'stop';

  constructor(connectionId: string) {
    super(
      `${connectionId} is being removed: run the command again to finish ("daybook connection remove ${connectionId}"), then add it, or pick another name.`,
    );
  }
}

/** Thrown when records kept under the name cannot be those of the company to add. */
export class RecordsKept extends Error {
  override readonly name = 'RecordsKept';
  readonly handling = 'stop';

  /** Without an API address, the company they belong to is not known. */
  constructor(connectionId: string, apiAddress?: string) {
    const whose =
      apiAddress === undefined
        ? `Records are kept under ${connectionId}, and it is not known of which company.`
        : `Records of ${connectionId} are kept that came from the API address ${apiAddress}, which is not the one Daybook runs with.`;
    super(
      `${whose} Pick another name, or delete them with "daybook connection remove ${connectionId}" first.`,
    );
  }
}

export interface NewConnection {
  connectionId: string;
  /** The address that the token belongs to; `sandbox` for the embedded one. */
  apiAddress: string;
  token: string;
  expandPlatformData: boolean;
  /** Milliseconds between two syncs. Null or absent: only on request. */
  syncEvery?: number | null;
  reconcileEvery?: number | null;
}

/**
 * Adds a connection, with its token sealed. Records kept under the name stay with their company: its identity is pinned again, so that the first
 * answer for another company is refused. Returns the kept data.
 *
 * Throws ConnectionExists, ConnectionBeingRemoved, RecordsKept, IdentityInUse, WrongSecretKey.
 */
export async function addConnection(
  { pool }: Warehouse,
  key: Buffer,
  connection: NewConnection,
): Promise<{ kept: KeptData | undefined }> {
  const { connectionId } = connection;
  return inTransaction(pool, async ({ db }) => {
    await lockName(db, connectionId);
    await checkSecretKey({ db }, key);
    if (await isBeingRemoved(db, connectionId)) throw new ConnectionBeingRemoved(connectionId);
    const [kept] = await readKeptData({ db }, connectionId);
    if (kept !== undefined) await refuseOthers(db, { connection, kept });
    const added = await db
      .insertInto('sync.connections')
      .values({
        connection_id: connectionId,
        api_address: connection.apiAddress,
        token_sealed: sealToken(key, connection),
        service_connection_id: kept?.service_connection_id ?? null,
        org_id: kept?.org_id ?? null,
        platform: kept?.platform ?? null,
        expand_platform_data: connection.expandPlatformData,
        sync_every: formatInterval(connection.syncEvery ?? null),
        reconcile_every: formatInterval(connection.reconcileEvery ?? null),
      })
      .onConflict((conflict) => conflict.column('connection_id').doNothing())
      .returning('connection_id')
      .executeTakeFirst();
    if (added === undefined) throw new ConnectionExists(connectionId);
    await db.deleteFrom('sync.kept_data').where('connection_id', '=', connectionId).execute();
    await continueClocks(db, connectionId);
    if (kept !== undefined) await wantReconciles(db, connectionId);
    return { kept };
  });
}

async function isBeingRemoved(db: Warehouse['db'], connectionId: string): Promise<boolean> {
  const found = await db
    .selectFrom('sync.all_connections')
    .select('connection_id')
    .where('connection_id', '=', connectionId)
    .where('removing_at', 'is not', null)
    .executeTakeFirst();
  return found !== undefined;
}

/**
 * Makes new writes later than the removal of earlier records of this name, whatever the database's clock does. No count of changes is used twice
 * either, so that a weight of the earlier records (`sync.table_weights`) is never taken for one of the new ones.
 */
async function continueClocks(db: Warehouse['db'], connectionId: string): Promise<void> {
  await sql`
    insert into sync.resource_clocks (connection_id, resource, landed_at, changes)
    select name, resource, removed_at, (extract(epoch from removed_at) * 1000000)::bigint
    from sync.removals cross join unnest(${resourceNames}::text[]) as resource
    where name = ${connectionId}
    on conflict do nothing
  `.execute(db);
}

/** Requests reconciles, because open decisions about kept records were lost with their streams. */
async function wantReconciles(db: Warehouse['db'], connectionId: string): Promise<void> {
  const streams = resources.flatMap((resource) =>
    resource.streams.map(({ name }) => ({ stream: name, resource })),
  );
  await openStreams(db, { connectionId, streams });
  await db
    .updateTable('sync.streams')
    .set({ reconcile_wanted_at: sql<Date>`clock_timestamp()` })
    .where('connection_id', '=', connectionId)
    .where('listed_at', 'is not', null)
    .execute();
}

async function refuseOthers(
  db: Warehouse['db'],
  { connection, kept }: { connection: NewConnection; kept: KeptData },
): Promise<void> {
  const { connectionId, apiAddress } = connection;
  const { api_address: keptAddress, service_connection_id: identity, org_id: organisation } = kept;
  if (keptAddress === null || identity === null) throw new RecordsKept(connectionId);
  if (keptAddress !== apiAddress) throw new RecordsKept(connectionId, keptAddress);
  // The same lock as in pinIdentity: if two names take one company, the second sees the first.
  await sql`select sync.lock('identity/' || ${identity})`.execute(db);
  const other = await db
    .selectFrom('sync.connections')
    .select(['connection_id', 'org_id'])
    .where('api_address', '=', apiAddress)
    .where('service_connection_id', '=', identity)
    .executeTakeFirst();
  if (other !== undefined) {
    const isOfOtherOrganisation = other.org_id !== organisation;
    throw new IdentityInUse(connectionId, { connectionId: other.connection_id, isOfOtherOrganisation });
  }
}
