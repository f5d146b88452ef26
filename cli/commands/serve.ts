import { Command } from 'commander';
import { checkAddresses } from '../../warehouse/ownership/check-addresses.ts';
import { checkSchema } from '../../warehouse/schema/migrate.ts';
import { openWarehouse } from '../../warehouse/open-warehouse.ts';
import { checkSecretKey } from '../../warehouse/secrets/check-secret-key.ts';
import { printAside } from '../printer.ts';
import { readServiceSettings } from '../settings.ts';

export function serveCommand(): Command {
  return new Command('serve')
    .description('Run the HTTP server until stopped: console, dashboard, webhooks, health and metrics.')
    .addHelpText('after', '\nExample:\n  $ DAYBOOK_HTTP_PORT=8080 npx daybook serve')
    .action(async () => {
      const { createLogger } = await import('../../worker/logging.ts');
      const { connectTemporal } = await import('../../operations/temporal-client.ts');
      const { checkOwnership } = await import('../../operations/ownership/check-ownership.ts');
      const { watchOwnership } = await import('../../worker/ownership/watch-ownership.ts');
      const { serveHttp } = await import('../serve-http.ts');
      const { watchAlerts } = await import('../../worker/alerts/watch-alerts.ts');
      const { untilStopped } = await import('../until-stopped.ts');
      const stopped = untilStopped();
      const settings = await readServiceSettings(['database', 'temporal', 'api']);
      const logger = createLogger(settings.logLevel);
      await checkAddresses(settings.database);
      const warehouse = openWarehouse(settings.database);
      await checkSchema(warehouse);
      await checkSecretKey(warehouse, await settings.secretKey());
      const client = await connectTemporal(settings);
      const places = { warehouse, temporal: client, settings };
      await checkOwnership(places, { say: printAside });
      const http = await serveHttp({ settings, warehouse, client, logger });
      const stopping = new AbortController();
      // If every worker is gone, only this process can report it.
      const alertsWatched = watchAlerts(
        { warehouse, temporal: client, url: settings.alertUrl, version: settings.productVersion },
        { logger, stopping: stopping.signal },
      );
      const owned = watchOwnership(places, { isWorker: false, logger, stopping: stopping.signal });
      printAside(`Serving at ${http.url}. Stop with Ctrl-C.`);
      try {
        await Promise.race([stopped, owned]);
      } finally {
        stopping.abort();
        await Promise.all([http.close(), alertsWatched]);
        await Promise.all([client.connection.close(), warehouse.close()]);
      }
    });
}
