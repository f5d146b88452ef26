import { WrongSecretKey } from '../errors.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { keyFingerprint } from './sealed-token.ts';

/** Where the warehouse tells its key from others. */
export const fingerprintSetting = 'secret_key_fingerprint';

/**
 * The first key a warehouse meets becomes its key. Within a transaction it stays the key until the end, so that no rotation
 * passes by a token that is being stored. Throws WrongSecretKey for any other.
 */
export async function checkSecretKey({ db }: Pick<Warehouse, 'db'>, key: Buffer): Promise<void> {
  const fingerprint = keyFingerprint(key);
  await db
    .insertInto('sync.settings')
    .values({ name: fingerprintSetting, value: fingerprint })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const stored = await db
    .selectFrom('sync.settings')
    .select('value')
    .where('name', '=', fingerprintSetting)
    .forShare()
    .executeTakeFirstOrThrow();
  if (stored.value !== fingerprint) throw new WrongSecretKey();
}
