import { exitCodes, type ExitCode } from './exit-codes.ts';
import { print, printAside, printJson } from './printer.ts';
import type { RunRequest } from '../operations/start-run.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import { withWarehouse } from './with-warehouse.ts';

/**
 * What `sync`, `reconcile` and `backfill` do with a run: start or join it, follow it, and say how it ended. What is requested
 * may depend on what stands in the warehouse.
 */
export async function runAndFollow(
  requested: RunRequest | ((warehouse: Warehouse) => Promise<RunRequest>),
  { wait, json }: { wait: boolean; json: boolean },
): Promise<ExitCode> {
  return withWarehouse(
    async (warehouse, settings) => {
      const { connectTemporal } = await import('../operations/temporal-client.ts');
      const { checkOwnership } = await import('../operations/ownership/check-ownership.ts');
      const { startRun } = await import('../operations/start-run.ts');
      const { followRun } = await import('./follow-run.ts');
      const request = typeof requested === 'function' ? await requested(warehouse) : requested;
      const client = await connectTemporal(settings);
      try {
        await checkOwnership({ warehouse, temporal: client, settings }, { say: printAside });
        const started = await startRun({ client, warehouse, settings }, request);
        if (!wait) {
          if (json) printJson(started);
          else print(`${started.joined ? 'Already running' : 'Started'}: ${started.link}`);
          return exitCodes.done;
        }
        const { exitCode, run } = await followRun({ client, warehouse }, { ...started, quiet: json });
        if (json) printJson(run);
        return exitCode;
      } finally {
        await client.connection.close();
      }
    },
    ['database', 'temporal', 'api'],
  );
}
