import { NativeConnection } from '@temporalio/worker';
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { inOrder } from '../errors/in-order.ts';
import { createApiClient } from '../source/api-client.ts';
import { openApiBudget } from '../warehouse/api-budget/api-budget.ts';
import { checkAddresses } from '../warehouse/ownership/check-addresses.ts';
import { checkSchema } from '../warehouse/schema/migrate.ts';
import { openWarehouse, type Warehouse } from '../warehouse/open-warehouse.ts';
import { checkSecretKey } from '../warehouse/secrets/check-secret-key.ts';
import { createDatabaseWatch } from './alerts/database-watch.ts';
import { watchAlerts } from './alerts/watch-alerts.ts';
import { watchHost } from './hosts/watch-host.ts';
import { claimNamespace, type ClaimOptions } from './ownership/claim-namespace.ts';
import { deleteReplacedSchedules } from './ownership/delete-replaced-schedules.ts';
import { watchOwnership } from './ownership/watch-ownership.ts';
import { measureRequests } from './measure-requests.ts';
import { createPagingSlots } from './paging-slots.ts';
import { notePageLanded } from './metrics.ts';
import { admitTick } from './schedules/admit-tick.ts';
import { admitExport, repairExportSchedule } from '../operations/schedules/update-export-schedule.ts';
import { updateSchedules } from '../operations/schedules/update-schedules.ts';
import { keepSchedulesRepaired } from './schedules/repair-schedules.ts';
import { schedulePrune } from './schedules/schedule-prune.ts';
import { martsPlaces } from '../operations/marts-places.ts';
import { missingSearchAttributes } from '../operations/search-attributes.ts';
import type { Settings } from '../config/settings.ts';
import { shareConnections } from './share-connections.ts';
import { startWorker, type RunningWorker } from './start-worker.ts';
import { connectTemporal } from '../operations/temporal-client.ts';
import { sweepWebhooks } from './webhooks/sweep-webhooks.ts';

export interface WorkerProcess {
  readonly worker: RunningWorker;
  /** Settles when the worker has stopped. Rejects if it failed, or if another warehouse took the namespace. */
  readonly done: Promise<void>;
  readonly warehouse: Warehouse;
  readonly client: Client;
  /** Stops the worker, then closes everything it used, even if it failed. Rejects with the first failure. */
  readonly stop: () => Promise<void>;
}

/**
 * The composition root: wires together everything that a worker process consists of.
 * Throws PoolerUnfit, DirectUrlElsewhere, SchemaOutdated, WrongSecretKey, TemporalUnavailable, NamespaceNotOurs, and Postgres's connection errors.
 */
export async function composeWorker(
  settings: Settings,
  logger: Logger,
  ownership: ClaimOptions,
): Promise<WorkerProcess> {
  await checkAddresses(settings.database);
  const shares = shareConnections(settings.database);
  const connections = shares.pool;
  const warehouse = openWarehouse({
    ...settings.database,
    connections,
    onIdleError: (error) => {
      logger.info({ reason: error.message }, 'An idle database connection broke; the pool replaces it.');
    },
  });
  await checkSchema(warehouse);
  await checkSecretKey(warehouse, await settings.secretKey());
  const client = await connectTemporal(settings);
  const owner = await claimNamespace({ warehouse, temporal: client, settings }, ownership);
  const connection = await NativeConnection.connect(settings.temporal.connection);
  const budget = openApiBudget(warehouse, { apiAddress: settings.api.address, ...settings.api });
  // A stream holds a connection only while it lands a page; one stays free for bookkeeping and the request budget.
  const slots = createPagingSlots({ slots: Math.max(1, connections - 1) });
  const requests = measureRequests(createApiClient({ ...settings.api, baseUrl: settings.api.url, budget }));
  const api = slots.lendWhileWaiting(requests);
  const places = {
    warehouse,
    temporal: client,
    apiAddress: settings.api.address,
    requestsPer10s: settings.api.requestsPer10s,
  };
  const database = createDatabaseWatch();
  const worker = await startWorker({
    connection,
    namespace: settings.temporal.namespace,
    deployment: settings.temporal.deployment,
    dependencies: {
      warehouse,
      api,
      temporal: client,
      schedules: {
        update: (connectionId) => updateSchedules(places, { connectionId }),
        admit: (tick) => admitTick(places, tick),
        admitExport: () => admitExport(places),
      },
      apiAddress: settings.api.address,
      secretKey: settings.secretKey,
      policies: settings.policies,
      exporting: {
        databaseUrl: settings.database.directUrl,
        databaseConnections: shares.export,
        lake: settings.lake.location,
        scratch: settings.lake.scratch,
        keep: settings.lake.keep,
        iceberg: { add: settings.lake.format === 'iceberg', cacheFolder: settings.marts.cacheFolder },
        productVersion: settings.productVersion,
      },
      building: martsPlaces(settings, { connections: shares.dbt }),
      searchable: (await missingSearchAttributes(client, settings.temporal.namespace)).length === 0,
      pause: slots.pause,
      onPageLanded: notePageLanded,
    },
    pagingSlots: slots.supplier,
    onFailure: (error) => {
      database.refused(error);
    },
    logger,
  });
  const stopping = new AbortController();
  const owned = watchOwnership(
    { warehouse, temporal: client, settings },
    { isWorker: true, logger, stopping: stopping.signal },
  );
  const cleared = deleteReplacedSchedules(client, owner, { logger });
  const repaired = cleared.then(() => keepSchedulesRepaired(places, { logger, stopping: stopping.signal }));
  const pruneScheduled = schedulePrune(client, { logger });
  const exportScheduled = cleared.then(() => repairExportSchedule(places, { logger }));
  const alertsWatched = watchAlerts(
    { warehouse, temporal: client, url: settings.alertUrl, version: settings.productVersion },
    { logger, stopping: stopping.signal, database },
  );
  const hostWatched = watchHost({ warehouse, settings }, { logger, stopping: stopping.signal });
  const webhooksSwept = sweepWebhooks(places, { logger, stopping: stopping.signal });
  return {
    worker,
    done: Promise.race([worker.done, owned.then(() => worker.done)]),
    warehouse,
    client,
    stop() {
      stopping.abort();
      return inOrder([
        () => worker.stop(),
        () => Promise.all([repaired, pruneScheduled, exportScheduled]),
        // If the namespace was lost, `done` has already rejected with that error.
        () => Promise.all([alertsWatched, webhooksSwept, hostWatched, Promise.allSettled([owned])]),
        () => api.close(),
        () => connection.close(),
        () => client.connection.close(),
        () => warehouse.close(),
      ]);
    },
  };
}
