import { biLoginUrl } from '../warehouse/bi-login.ts';
import { withWarehouse } from './with-warehouse.ts';

/** Returns the URL, with password, of the login that can only read the warehouse. Poolers do not know that login. */
export function biUrl(): Promise<URL> {
  return withWarehouse(async (warehouse, { secretKey, database }) =>
    biLoginUrl(warehouse, { key: await secretKey(), databaseUrl: database.directUrl }),
  );
}
