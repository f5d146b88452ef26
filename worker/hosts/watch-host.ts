import type { Logger } from 'pino';
import { ForeignLake, LakeKeeps, LakeRefused } from '../../lake/errors.ts';
import { hostOf } from '../../marts/host-of.ts';
import { noteHost, noteHostCleared } from '../../warehouse/hosts/note-host.ts';
import { BuildRunning } from '../../warehouse/marts/build-lock.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { ExportRunning } from '../../warehouse/snapshots/open-snapshot.ts';
import { LockLost } from '../../warehouse/transactions/hold-lock.ts';
import { repeat } from '../repeat.ts';
import type { Settings } from '../../config/settings.ts';
import { clearHost, clearLeftovers } from '../../operations/clear-host.ts';

const everyMilliseconds = 10_000;

/**
 * Clears this host's disk for erasures: files of killed processes at the start, and every file made of records whenever an erasure on another
 * host requests it. Waits for running exports and builds. Ends when `stopping` aborts.
 */
export async function watchHost(
  { warehouse, settings }: { warehouse: Warehouse; settings: Settings },
  { logger, stopping }: { logger: Logger; stopping: AbortSignal },
): Promise<void> {
  const failing = 'Could not remove files of this host; retrying.';
  let isStarting = true;
  await repeat({ everyMilliseconds, stopping, logger, failing }, async () => {
    const host = await hostOf(settings.marts.home);
    const asked = await noteHost(warehouse, host);
    if (asked !== null) {
      const clear = (): Promise<void> => unlessOfLake(() => clearHost({ settings, warehouse }));
      if (!(await whileFree(clear))) return;
      await noteHostCleared(warehouse, { ...host, asked });
      logger.info('Files of snapshots and builds were cleared, as an erasure asked.');
    } else if (isStarting && !(await whileFree(() => clearLeftovers(settings)))) return;
    isStarting = false;
  });
}

/** Ignores errors of the lake, which the erasure itself reports: this host's disk is clear by then, and a retry would not help. */
async function unlessOfLake(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (![LakeKeeps, LakeRefused, ForeignLake].some((kind) => error instanceof kind)) throw error;
  }
}

/** Returns whether the work was done: a running export or build goes first. */
async function whileFree(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if ([BuildRunning, ExportRunning, LockLost].some((kind) => error instanceof kind)) return false;
    throw error;
  }
}
