import { checkSchema } from '../warehouse/schema/migrate.ts';
import { openWarehouse, type Warehouse } from '../warehouse/open-warehouse.ts';
import type { Settings } from '../config/settings.ts';
import { readSettings, type Need } from './settings.ts';

/** Opens the warehouse for a command's work, and closes it afterwards. Throws SchemaOutdated if it was not migrated. */
export async function withWarehouse<Result>(
  work: (warehouse: Warehouse, settings: Settings) => Promise<Result>,
  needs: readonly Need[] = ['database'],
): Promise<Result> {
  const settings = await readSettings(needs);
  // A command sends one query after another; the other connections are for workers.
  const warehouse = openWarehouse({ ...settings.database, connections: 2 });
  try {
    await checkSchema(warehouse);
    return await work(warehouse, settings);
  } finally {
    await warehouse.close();
  }
}
