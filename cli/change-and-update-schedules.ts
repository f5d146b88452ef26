import type { Client } from '@temporalio/client';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import type { Settings } from '../config/settings.ts';
import { printAside } from './printer.ts';

/** A change of the database that schedules in Temporal have to reflect. */
export interface Change<Changed> {
  readonly change: () => Promise<Changed>;
  readonly matters?: (changed: Changed) => boolean;
  readonly update: (temporal: Client) => Promise<void>;
  /** Printed if Temporal is unreachable; the command has still done its part. */
  readonly later: string;
}

/**
 * Changes the database and updates Temporal to match. If the namespace belongs to another warehouse, nothing is changed. Throws
 * NamespaceNotOurs, and whatever `change` and `update` throw.
 */
export async function changeAndUpdateSchedules<Changed>(
  { warehouse, settings }: { warehouse: Warehouse; settings: Settings },
  { change, matters = () => true, update, later }: Change<Changed>,
): Promise<Changed> {
  const { connectTemporal } = await import('../operations/temporal-client.ts');
  const { checkOwnership } = await import('../operations/ownership/check-ownership.ts');
  const temporal = await unlessAway(() => connectTemporal(settings, { deadlineMilliseconds: 5_000 }));
  try {
    if (temporal !== undefined)
      await unlessAway(() => checkOwnership({ warehouse, temporal, settings }, { say: printAside }));
    const changed = await change();
    if (matters(changed) && !(await isUpdated(temporal, update))) printAside(later);
    return changed;
  } finally {
    await temporal?.connection.close();
  }
}

async function isUpdated(
  temporal: Client | undefined,
  update: (temporal: Client) => Promise<void>,
): Promise<boolean> {
  if (temporal === undefined) return false;
  const updated = await unlessAway(async () => {
    await update(temporal);
    return true;
  });
  return updated ?? false;
}

/** Returns undefined if Temporal does not answer. */
async function unlessAway<Result>(ask: () => Promise<Result>): Promise<Result | undefined> {
  const { isTemporalAway } = await import('../operations/temporal-client.ts');
  try {
    return await ask();
  } catch (error) {
    if (isTemporalAway(error)) return undefined;
    throw error;
  }
}
