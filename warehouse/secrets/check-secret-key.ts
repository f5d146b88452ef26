import { sql } from 'kysely';
import { WrongSecretKey } from '../errors.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { keyFingerprint } from './sealed-token.ts';
import type { SecretKey } from './secret-key.ts';

/** The setting that tells the warehouse's key from others. */
export const fingerprintSetting = 'secret_key_fingerprint';

/**
 * Makes the first key that a warehouse meets its key, and throws WrongSecretKey for any other. Within a transaction the key is locked until the end,
 * so that no rotation misses a token that is being stored.
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

/** Refuses to let a migration, which may be the first one, run with another key than the warehouse's. Throws WrongSecretKey. */
export async function refuseOtherKey({ db }: Pick<Warehouse, 'db'>, key: SecretKey): Promise<void> {
  const { rows: there } = await sql`select where to_regclass('sync.settings') is not null`.execute(db);
  if (there.length === 0) return;
  const stored = await db
    .selectFrom('sync.settings')
    .select('value')
    .where('name', '=', fingerprintSetting)
    .executeTakeFirst();
  if (stored !== undefined && stored.value !== keyFingerprint(await key())) throw new WrongSecretKey();
}
