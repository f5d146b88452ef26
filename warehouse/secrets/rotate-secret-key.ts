import { inTransaction } from '../transactions/in-transaction.ts';
import { resealBiLogin } from '../bi-login.ts';
import { WrongSecretKey } from '../errors.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { fingerprintSetting } from './check-secret-key.ts';
import { keyFingerprint, openToken, sealToken, tokenMark } from './sealed-token.ts';

/**
 * Seals every token, and the password of the login for readers, with the new key: all of them or none. With the same keys again it changes nothing,
 * so an interrupted rotation can be repeated. Throws WrongSecretKey if `from` is not the key.
 */
export async function rotateSecretKey(
  { pool }: Warehouse,
  { from, to }: { from: Buffer; to: Buffer },
): Promise<{ resealed: number }> {
  return inTransaction(pool, async ({ db }) => {
    const stored = await db
      .selectFrom('sync.settings')
      .select('value')
      .where('name', '=', fingerprintSetting)
      .forUpdate()
      .executeTakeFirst();
    if (stored?.value === keyFingerprint(to)) return { resealed: 0 };
    if (stored?.value !== keyFingerprint(from)) throw new WrongSecretKey();
    const connections = await db
      .selectFrom('sync.connections')
      .select(['connection_id', 'token_sealed', 'refused_token'])
      .orderBy('connection_id')
      .forUpdate()
      .execute();
    for (const { connection_id: connectionId, token_sealed: sealed, refused_token: refused } of connections) {
      const token = openToken(from, { connectionId, sealed });
      const resealed = sealToken(to, { connectionId, token });
      // It is the same token, so it stays refused.
      const mark = refused === tokenMark(sealed) ? tokenMark(resealed) : refused;
      await db
        .updateTable('sync.connections')
        .set({ token_sealed: resealed, refused_token: mark })
        .where('connection_id', '=', connectionId)
        .execute();
    }
    await resealBiLogin(db, { from, to });
    await db
      .updateTable('sync.settings')
      .set({ value: keyFingerprint(to) })
      .where('name', '=', fingerprintSetting)
      .execute();
    return { resealed: connections.length };
  });
}
