import type { Warehouse } from '../warehouse/open-warehouse.ts';
import type { OwnershipRead } from '../operations/ownership/read-ownership.ts';
import type { Settings } from '../config/settings.ts';
import { shortDeadline, withTemporal } from './with-temporal.ts';

/** Returns undefined if Temporal does not answer. */
export async function readNamespaceOwner({
  warehouse,
  settings,
}: {
  warehouse: Warehouse;
  settings: Settings;
}): Promise<OwnershipRead | undefined> {
  const { isTemporalAway } = await import('../operations/temporal-client.ts');
  const { readOwnership } = await import('../operations/ownership/read-ownership.ts');
  try {
    return await withTemporal(
      settings,
      (temporal) => readOwnership({ warehouse, temporal, settings }),
      shortDeadline,
    );
  } catch (error) {
    if (isTemporalAway(error)) return undefined;
    throw error;
  }
}
