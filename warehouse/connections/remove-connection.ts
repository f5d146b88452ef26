import { sql, type Selectable, type Transaction } from 'kysely';
import { resources } from '../../resources/index.ts';
import { UnknownConnection } from '../errors.ts';
import { keepStreamMonths } from '../history/keep-stream-months.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { lockLandings } from '../passes/lock-pass.ts';
import type { ConnectionsTable } from '../tables/connections.ts';
import type { Database } from '../tables/database.ts';
import { readKeptData, type KeptData } from './kept-data.ts';
import { lockName } from './lock-name.ts';

export interface Removal {
  /** `kept data`: the connection was removed before, and what it had left is deleted now. */
  readonly removed: 'connection' | 'kept data' | 'nothing';
  /** What stays under the name. */
  readonly kept: KeptData | undefined;
}

/**
 * Forgets the connection and its state; its records, their history and their deletions go too, unless `keepData`. Then it
 * stays known whose they are. Of a name of which only records are left, it deletes these, unless `keepData`.
 *
 * Throws UnknownConnection.
 */
export async function removeConnection(
  { db }: Warehouse,
  input: { connectionId: string; keepData: boolean },
): Promise<Removal> {
  const { connectionId, keepData } = input;
  return db.transaction().execute(async (transaction) => {
    await lockName(transaction, connectionId);
    await lockLandings(transaction, connectionId);
    if (keepData) await keepStreamMonths({ db: transaction }, connectionId);
    const connection = await deleteConnection(transaction, connectionId);
    const [left] = await readKeptData({ db: transaction }, connectionId);
    if (connection === undefined && left === undefined) throw new UnknownConnection(connectionId);
    if (!keepData || left === undefined) {
      await noteRemoval(transaction, connectionId);
      await deleteData(transaction, connectionId);
      return { removed: connection === undefined ? 'kept data' : 'connection', kept: undefined };
    }
    if (connection === undefined) return { removed: 'nothing', kept: left };
    await keepIdentity(transaction, connection);
    await forgetEntries(transaction, connectionId);
    const [kept] = await readKeptData({ db: transaction }, connectionId);
    return { removed: 'connection', kept };
  });
}

type Connection = Pick<
  Selectable<ConnectionsTable>,
  'connection_id' | 'api_address' | 'service_connection_id' | 'org_id' | 'platform'
>;

/**
 * What says how far a connection was read, and what its runs did, hangs on its row and goes with it. Alerts do not: whoever
 * was told of one is told that it is over.
 */
function deleteConnection(db: Transaction<Database>, connectionId: string): Promise<Connection | undefined> {
  return db
    .deleteFrom('sync.connections')
    .where('connection_id', '=', connectionId)
    .returning(['connection_id', 'api_address', 'service_connection_id', 'org_id', 'platform'])
    .executeTakeFirst();
}

/** For who has copied the records. Expects the landings to be locked: the clocks have ticked, and no write has a later time. */
async function noteRemoval(db: Transaction<Database>, connectionId: string): Promise<void> {
  await sql`
    insert into sync.removals as earlier (name, removed_at)
    select ${connectionId}, max(landed_at) from sync.resource_clocks where connection_id = ${connectionId}
    on conflict (name) do update set removed_at = greatest(excluded.removed_at, earlier.removed_at)
  `.execute(db);
}

async function deleteData(db: Transaction<Database>, connectionId: string): Promise<void> {
  for (const table of dataTables) {
    await sql`delete from ${sql.table(table)} where connection_id = ${connectionId}`.execute(db);
  }
}

/** Records, and what is known of them. */
const dataTables = [
  ...resources
    .flatMap(({ name, children }) => [name, ...children.map(({ table }) => table)])
    .map((table) => `finance.${table}`),
  'history.record_versions',
  'history.kept_stream_months',
  'sync.tombstones',
  'sync.overruled_deletions',
  'sync.field_issues',
  'sync.quarantine',
  'sync.resource_clocks',
  'sync.kept_data',
];

async function keepIdentity(db: Transaction<Database>, connection: Connection): Promise<void> {
  await db
    .insertInto('sync.kept_data')
    .values(connection)
    .onConflict((conflict) => conflict.column('connection_id').doUpdateSet(connection))
    .execute();
}

/** What could not land comes again with the first sync of the name; what a person discarded stays discarded. */
async function forgetEntries(db: Transaction<Database>, connectionId: string): Promise<void> {
  await db
    .deleteFrom('sync.quarantine')
    .where('connection_id', '=', connectionId)
    .where('status', '<>', 'discarded')
    .execute();
}
