import { NativeConnection } from '@temporalio/worker';
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { createApiClient } from '../source/api-client.ts';
import { openApiBudget } from '../warehouse/api-budget.ts';
import { checkSchema } from '../warehouse/migrate.ts';
import { openWarehouse, type Warehouse } from '../warehouse/open-warehouse.ts';
import { checkSecretKey } from '../warehouse/secrets/check-secret-key.ts';
import { measureRequests } from './measure-requests.ts';
import { notePageLanded } from './metrics.ts';
import { missingSearchAttributes } from './search-attributes.ts';
import type { Settings } from './settings.ts';
import { startWorker, type RunningWorker } from './start-worker.ts';
import { connectTemporal } from './temporal-client.ts';

export interface WorkerProcess {
  readonly worker: RunningWorker;
  readonly warehouse: Warehouse;
  readonly client: Client;
  /** Stops the worker, then closes what it used. */
  readonly stop: () => Promise<void>;
}

/**
 * The composition root: everything a worker process consists of, wired together in one place.
 * Throws SchemaOutdated, WrongSecretKey, TemporalUnavailable, and what Postgres says when it cannot be reached.
 */
export async function composeWorker(settings: Settings, logger: Logger): Promise<WorkerProcess> {
  const warehouse = openWarehouse({
    ...settings.database,
    onIdleError: (error) => {
      logger.info({ reason: error.message }, 'An idle database connection broke; the pool replaces it.');
    },
  });
  await checkSchema(warehouse);
  await checkSecretKey(warehouse, settings.secretKey);
  const client = await connectTemporal(settings);
  const connection = await NativeConnection.connect(settings.temporal.connection);
  const budget = openApiBudget(warehouse, { apiAddress: settings.api.address, ...settings.api });
  const api = measureRequests(createApiClient({ ...settings.api, baseUrl: settings.api.url, budget }));
  const worker = await startWorker({
    connection,
    namespace: settings.temporal.namespace,
    dependencies: {
      warehouse,
      api,
      apiAddress: settings.api.address,
      secretKey: settings.secretKey,
      lookbackMilliseconds: settings.lookbackMilliseconds,
      giveUpAfterMilliseconds: settings.giveUpAfterMilliseconds,
      searchable: (await missingSearchAttributes(client, settings.temporal.namespace)).length === 0,
      onPageLanded: notePageLanded,
    },
    // Two connections stay free for the bookkeeping and the request budget.
    concurrentStreams: Math.max(1, settings.database.connections - 2),
    logger,
  });
  return {
    worker,
    warehouse,
    client,
    async stop() {
      await worker.stop();
      await Promise.all([api.close(), connection.close(), client.connection.close(), warehouse.close()]);
    },
  };
}
