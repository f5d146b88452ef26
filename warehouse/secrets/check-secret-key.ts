import { WrongSecretKey } from '../errors.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { keyFingerprint } from './sealed-token.ts';

/** The first key a warehouse meets becomes its key. Throws WrongSecretKey for any other. */
export async function checkSecretKey({ db }: Warehouse, key: Buffer): Promise<void> {
  const fingerprint = keyFingerprint(key);
  await db
    .insertInto('sync.settings')
    .values({ name: 'secret_key_fingerprint', value: fingerprint })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const stored = await db
    .selectFrom('sync.settings')
    .select('value')
    .where('name', '=', 'secret_key_fingerprint')
    .executeTakeFirstOrThrow();
  if (stored.value !== fingerprint) throw new WrongSecretKey();
}
