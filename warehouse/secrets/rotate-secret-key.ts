import { resealBiLogin } from '../bi-login.ts';
import { WrongSecretKey } from '../errors.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { fingerprintSetting } from './check-secret-key.ts';
import { keyFingerprint, openToken, sealToken } from './sealed-token.ts';

/**
 * Seals every token anew, and the password of the login for readers, all of them or none. Done again with the same keys it changes nothing, so a rotation that was
 * interrupted can be repeated. Throws WrongSecretKey when `from` is not the key.
 */
export async function rotateSecretKey(
  { db }: Warehouse,
  { from, to }: { from: Buffer; to: Buffer },
): Promise<{ resealed: number }> {
  return db.transaction().execute(async (transaction) => {
    const stored = await transaction
      .selectFrom('sync.settings')
      .select('value')
      .where('name', '=', fingerprintSetting)
      .forUpdate()
      .executeTakeFirst();
    if (stored?.value === keyFingerprint(to)) return { resealed: 0 };
    if (stored?.value !== keyFingerprint(from)) throw new WrongSecretKey();
    const connections = await transaction
      .selectFrom('sync.connections')
      .select(['connection_id', 'token_sealed'])
      .orderBy('connection_id')
      .forUpdate()
      .execute();
    for (const { connection_id: connectionId, token_sealed: sealed } of connections) {
      const token = openToken(from, { connectionId, sealed });
      await transaction
        .updateTable('sync.connections')
        .set({ token_sealed: sealToken(to, { connectionId, token }) })
        .where('connection_id', '=', connectionId)
        .execute();
    }
    await resealBiLogin(transaction, { from, to });
    await transaction
      .updateTable('sync.settings')
      .set({ value: keyFingerprint(to) })
      .where('name', '=', fingerprintSetting)
      .execute();
    return { resealed: connections.length };
  });
}
