import { startExport } from '../../../worker/start-export.ts';
import { checkOwnership } from '../../../worker/ownership/check-ownership.ts';
import { connectTemporal } from '../../../worker/temporal-client.ts';
import { exitCodes, type ExitCode } from '../../exit-codes.ts';
import { followExport } from '../../follow-export.ts';
import { print, printAside, printJson } from '../../printer.ts';
import { withWarehouse } from '../../with-warehouse.ts';

/** Starts or joins the export and follows it. */
export async function runExport(options: { wait: boolean; json: boolean }): Promise<ExitCode> {
  return withWarehouse(
    async (warehouse, settings) => {
      const client = await connectTemporal(settings);
      try {
        await checkOwnership({ warehouse, temporal: client, settings }, { say: printAside });
        const started = await startExport({ client, settings }, { reason: 'daybook export' });
        if (options.wait) return await followExport({ client, warehouse }, started, options);
        if (options.json) printJson(started);
        else print(`${started.joined ? 'Already running' : 'Started'}: ${started.link}`);
        return exitCodes.done;
      } finally {
        await client.connection.close();
      }
    },
    ['database', 'temporal'],
  );
}
