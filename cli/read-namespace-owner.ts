import type { Warehouse } from '../warehouse/open-warehouse.ts';
import type { OwnershipRead } from '../operations/ownership/read-ownership.ts';
import type { Settings } from '../config/settings.ts';

/** Undefined where Temporal does not answer. */
export async function readNamespaceOwner({
  warehouse,
  settings,
}: {
  warehouse: Warehouse;
  settings: Settings;
}): Promise<OwnershipRead | undefined> {
  const { connectTemporal, isTemporalAway } = await import('../operations/temporal-client.ts');
  const { readOwnership } = await import('../operations/ownership/read-ownership.ts');
  try {
    const temporal = await connectTemporal(settings, { deadlineMilliseconds: 3_000 });
    try {
      return await readOwnership({ warehouse, temporal, settings });
    } finally {
      await temporal.connection.close();
    }
  } catch (error) {
    if (isTemporalAway(error)) return undefined;
    throw error;
  }
}
