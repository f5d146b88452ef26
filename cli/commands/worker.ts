import { Command } from 'commander';
import { inOrder } from '../../errors/in-order.ts';
import { takeOverOption } from '../options.ts';
import { printAside } from '../printer.ts';
import { readServiceSettings } from '../settings.ts';

export function workerCommand(): Command {
  return new Command('worker')
    .description(
      'Run a worker and its HTTP server until stopped: it does the work that Temporal schedules. Run as many as you like.',
    )
    .addOption(takeOverOption())
    .addHelpText(
      'after',
      '\nExample:\n  $ DATABASE_URL=… TEMPORAL_ADDRESS=… DAYBOOK_API_URL=… npx daybook worker\n' +
        '  $ npx daybook worker --take-over    # once, after a restored backup',
    )
    .action(async ({ takeOver }: { takeOver: boolean }) => {
      const { prepareProcess } = await import('../prepare-process.ts');
      const { composeWorker } = await import('../../worker/compose.ts');
      const { serveHttp } = await import('../serve-http.ts');
      const { untilStopped } = await import('../until-stopped.ts');
      const stopped = untilStopped();
      const settings = await readServiceSettings(['database', 'temporal', 'api']);
      const { logger, metricsPort } = await prepareProcess(settings.logLevel);
      const composed = await composeWorker(settings, logger, { takeOver, say: printAside });
      const { worker, done, warehouse, client } = composed;
      const stops = [() => composed.stop()];
      try {
        const http = await serveHttp({ settings, warehouse, client, logger, metricsPort, worker });
        stops.unshift(() => http.close());
        printAside(`The worker is ready; health and metrics at ${http.url}. Stop with Ctrl-C.`);
        await Promise.race([stopped, done]);
      } finally {
        await inOrder(stops);
      }
    });
}
