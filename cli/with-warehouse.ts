import { checkSchema } from '../warehouse/schema/migrate.ts';
import { openWarehouse, type Warehouse } from '../warehouse/open-warehouse.ts';
import type { Settings } from '../config/settings.ts';
import { readSettings, type Need } from './settings.ts';

/** Runs a command's work on the warehouse, and closes it. Throws SchemaOutdated when it was not migrated. */
export async function withWarehouse<Result>(
  work: (warehouse: Warehouse, settings: Settings) => Promise<Result>,
  needs: readonly Need[] = ['database'],
): Promise<Result> {
  const settings = await readSettings(needs);
  // A command asks one thing after another; the rest of the connections is for workers.
  const warehouse = openWarehouse({ ...settings.database, connections: 2 });
  try {
    await checkSchema(warehouse);
    return await work(warehouse, settings);
  } finally {
    await warehouse.close();
  }
}
