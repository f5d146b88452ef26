import { Command } from 'commander';
import { printAside } from '../printer.ts';
import { readSettings } from '../settings.ts';

export function workerCommand(): Command {
  return new Command('worker')
    .description('Run a worker until stopped: it syncs what Temporal asks for. Run as many as you like.')
    .addHelpText(
      'after',
      '\nExample:\n  $ DATABASE_URL=… TEMPORAL_ADDRESS=… DAYBOOK_API_URL=… npx daybook worker',
    )
    .action(async () => {
      const { prepareProcess } = await import('../prepare-process.ts');
      const { composeWorker } = await import('../../worker/compose.ts');
      const { serveHttp } = await import('../serve-http.ts');
      const { untilStopped } = await import('../until-stopped.ts');
      const stopped = untilStopped();
      const settings = await readSettings(['database', 'temporal', 'api']);
      const { logger, metricsPort } = await prepareProcess(settings.logLevel);
      const { worker, warehouse, client, stop } = await composeWorker(settings, logger);
      const http = await serveHttp({ settings, warehouse, client, logger, metricsPort, worker });
      printAside(`The worker is ready; health and metrics at ${http.url}. Stop with Ctrl-C.`);
      try {
        await Promise.race([stopped, worker.done]);
      } finally {
        await http.close();
        await stop();
      }
    });
}
