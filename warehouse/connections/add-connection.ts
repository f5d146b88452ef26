import { checkSecretKey } from '../secrets/check-secret-key.ts';
import { sealToken } from '../secrets/sealed-token.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { intervalOf } from './interval.ts';

export class ConnectionExists extends Error {
  override readonly name = 'ConnectionExists';
  readonly handling = 'stop';

  constructor(connectionId: string) {
    super(
      `There is a connection ${connectionId} already. Change its token with "daybook connection set-token ${connectionId}", or pick another name.`,
    );
  }
}

export interface NewConnection {
  connectionId: string;
  /** The address the token belongs to; `sandbox` for the embedded one. */
  apiAddress: string;
  token: string;
  expandPlatformData: boolean;
  /** Milliseconds between two; only when somebody asks, when absent. */
  syncEvery?: number | null;
  reconcileEvery?: number | null;
}

/** The token is stored sealed. Throws ConnectionExists, WrongSecretKey. */
export async function addConnection(
  { db }: Warehouse,
  key: Buffer,
  connection: NewConnection,
): Promise<void> {
  const added = await db.transaction().execute(async (transaction) => {
    await checkSecretKey({ db: transaction }, key);
    return transaction
      .insertInto('sync.connections')
      .values({
        connection_id: connection.connectionId,
        api_address: connection.apiAddress,
        token_sealed: sealToken(key, connection),
        expand_platform_data: connection.expandPlatformData,
        sync_every: intervalOf(connection.syncEvery ?? null),
        reconcile_every: intervalOf(connection.reconcileEvery ?? null),
      })
      .onConflict((conflict) => conflict.doNothing())
      .returning('connection_id')
      .executeTakeFirst();
  });
  if (added === undefined) throw new ConnectionExists(connection.connectionId);
}
