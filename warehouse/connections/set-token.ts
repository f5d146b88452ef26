import { inTransaction } from '../transactions/in-transaction.ts';
import { UnknownConnection } from '../errors.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { checkSecretKey } from '../secrets/check-secret-key.ts';
import { sealToken } from '../secrets/sealed-token.ts';
import { notPaused, webhooksDue } from './schedule-state.ts';

/**
 * Sets the token. The pinned identity stays, so the next run detects a token of another company. A connection that paused itself resumes; one that a
 * person paused does not. Throws UnknownConnection, WrongSecretKey.
 */
export async function setToken(
  { pool }: Warehouse,
  key: Buffer,
  input: { connectionId: string; token: string },
): Promise<{ resumed: boolean }> {
  const { connectionId } = input;
  return inTransaction(pool, async ({ db }) => {
    await checkSecretKey({ db }, key);
    const updated = await db
      .updateTable('sync.connections')
      .set({ token_sealed: sealToken(key, input), webhooks_after: webhooksDue, refused_token: null })
      .where('connection_id', '=', connectionId)
      .returning('paused_by')
      .executeTakeFirst();
    if (updated === undefined) throw new UnknownConnection(connectionId);
    // The answer that a list is not offered was given to the previous token.
    await db
      .updateTable('sync.streams')
      .set({ capability: 'unknown', capability_checked_at: null })
      .where('connection_id', '=', connectionId)
      .where('capability', '=', 'unsupported')
      .where('listed_at', 'is', null)
      .execute();
    const resumed = updated.paused_by === 'daybook';
    if (!resumed) return { resumed };
    await db
      .updateTable('sync.connections')
      .set({ ...notPaused, failures: 0 })
      .where('connection_id', '=', connectionId)
      .execute();
    return { resumed };
  });
}
