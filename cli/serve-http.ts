import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { metricsText } from '../server/metrics-text.ts';
import { readinessChecks } from '../server/readiness-checks.ts';
import { startHttpServer, type HttpServer } from '../server/start-http-server.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import { registry } from '../worker/metrics.ts';
import type { Settings } from '../config/settings.ts';
import type { RunningWorker } from '../worker/start-worker.ts';
import { createWebhookIntake } from '../server/webhooks/webhook-intake.ts';

/** Serves the console, webhooks, health and metrics of a process. With a worker, readiness includes whether it still runs. */
export function serveHttp(parts: {
  settings: Settings;
  warehouse: Warehouse;
  client: Client;
  logger: Logger;
  /** The port of the metrics of Temporal's SDK, in a process that runs a worker. */
  metricsPort?: number;
  worker?: RunningWorker;
}): Promise<HttpServer> {
  const { settings, warehouse, client, logger, metricsPort } = parts;
  return startHttpServer({
    ...settings.http,
    logger,
    metrics: () => (metricsPort === undefined ? registry.metrics() : metricsText(metricsPort)),
    readiness: readinessChecks(parts),
    console: { settings, warehouse, temporal: client, logger },
    webhooks: createWebhookIntake({
      warehouse,
      temporal: client,
      logger,
      apiAddress: settings.api.address,
      clientSecret: settings.api.clientSecret,
    }),
  });
}
