import { biLoginUrl } from '../warehouse/bi-login.ts';
import { withWarehouse } from './with-warehouse.ts';

/** The URL of the login that reads the warehouse and writes nothing, with its password. Poolers do not know that login. */
export function biUrl(): Promise<URL> {
  return withWarehouse(async (warehouse, { secretKey, database }) =>
    biLoginUrl(warehouse, { key: await secretKey(), databaseUrl: database.directUrl }),
  );
}
