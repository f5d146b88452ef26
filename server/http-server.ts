import { fastify } from 'fastify';
import type { Logger } from 'pino';
import { listen } from './listen.ts';
import { metricsPage, type MetricsSources } from './metrics-page.ts';
import { createReadiness, type ReadinessChecks } from './readiness.ts';

export interface HttpServerSettings {
  readonly host: string;
  readonly port: number;
  /** Nobody asked for this very port, so the next free one will do as well. */
  readonly portIsDefault: boolean;
  readonly readiness: ReadinessChecks;
  readonly metrics: MetricsSources;
  readonly logger: Logger;
}

export interface HttpServer {
  readonly url: string;
  /** Answers the requests it has and takes no more. */
  close(): Promise<void>;
}

/** Health and metrics, for those who watch the process. Throws PortInUse. */
export async function startHttpServer(settings: HttpServerSettings): Promise<HttpServer> {
  const { logger, metrics } = settings;
  // Probes and scrapes come every few seconds: with a line for each, the log would have nothing else.
  const app = fastify({ logger: false });
  const readinessNow = createReadiness(settings.readiness, logger);

  app.get('/healthz', () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const readiness = await readinessNow();
    return reply.code(readiness.ready ? 200 : 503).send(readiness);
  });
  app.get('/metrics', async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metricsPage(metrics)),
  );
  app.setErrorHandler((error, request, reply) => {
    const reason = error instanceof Error ? error.message : String(error);
    logger.error({ route: request.routeOptions.url, reason }, 'A request to the HTTP server failed.');
    return reply.code(500).send({ error: 'The request failed; the log of the process says why.' });
  });

  return { url: await listen(app, settings), close: () => app.close() };
}
