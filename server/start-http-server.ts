import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { codeOf } from '../errors/code-of.ts';
import { reasonOf } from '../errors/reason-of.ts';
import { isLoopback } from '../config/is-loopback.ts';
import type { WebhookIntake } from './webhooks/webhook-intake.ts';
import type { ConsoleParts } from './console/console-parts.ts';
import { createConsole } from './console/console.ts';
import { limitConnections } from './limit-connections.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { createReadiness, type ReadinessChecks } from './readiness.ts';
import { refuseForeignHosts } from './refuse-foreign-hosts.ts';
import { createGuardedServer } from './guarded-server.ts';
import { withoutSchemas } from './without-schemas.ts';
import { answerBadRequest, keepBeginnings } from './answer-bad-request.ts';
import { addWebhookRoute } from './webhooks/webhook-route.ts';

export interface HttpServer {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** The port was configured explicitly and is taken. */
class PortInUse extends Error {
  override readonly name = 'PortInUse';

  constructor(address: { host: string; port: number }, cause: unknown) {
    super(
      `Port ${address.port} of ${address.host} is in use: stop what listens there, or set DAYBOOK_HTTP_PORT to another one.`,
      { cause },
    );
  }
}

/** The address does not exist on this machine, or this user may not listen on it. */
export class HttpAddressUnusable extends Error {
  override readonly name = 'HttpAddressUnusable';
  readonly isUsage = true;

  constructor({ host, port }: { host: string; port: number }, cause: unknown) {
    super(
      `The HTTP server cannot listen on port ${port} of ${host} (${String(codeOf(cause))}): set DAYBOOK_HTTP_HOST to an address of ` +
        'this machine, and DAYBOOK_HTTP_PORT to a port that this user may listen on.',
      { cause },
    );
  }
}

/**
 * Starts the HTTP server: `/healthz` (the process lives), `/readyz` (it can work) and `/metrics` (Prometheus) for machines, and the console
 * for people. If the default port is taken, the next ones are tried. Throws PortInUse if a configured port is taken, and HttpAddressUnusable.
 */
export async function startHttpServer(input: {
  host: string;
  port: number;
  portIsDefault: boolean;
  readiness: ReadinessChecks;
  metrics: () => Promise<string>;
  /** The receiver of `POST /webhooks`; if absent, there is no such route. */
  webhooks?: WebhookIntake;
  /** The parts of the console at `/`; if absent, there is no console. */
  console?: ConsoleParts;
  logger: Logger;
}): Promise<HttpServer> {
  const { logger } = input;
  // No request log: probes and scrapes come every few seconds, and their lines would drown everything else.
  const server = fastify({
    logger: false,
    forceCloseConnections: true,
    clientErrorHandler: answerBadRequest,
    schemaController: withoutSchemas,
    serverFactory: (handle) => createGuardedServer(patience, handle),
  });
  limitConnections(server.server, mostConnections);
  keepBeginnings(server.server);
  server.register((scope, _options, done) => {
    addProbes(scope, input);
    done();
  });
  if (input.webhooks !== undefined) addWebhookRoute(server, { intake: input.webhooks, logger });
  if (input.console !== undefined) await server.register(createConsole(input.console));
  else server.register(addNotFound);
  server.setErrorHandler((error, request, reply) => {
    const reason = reasonOf(error);
    logger.error({ route: request.routeOptions.url, reason }, 'A request to the HTTP server failed.');
    return reply.code(500).send({ error: 'The request failed; the log of the process says why.' });
  });
  return { url: await listen(server, input), close: () => server.close() };
}

/** Adds the probes, without authentication. On loopback, a web page whose host name resolves to this machine is refused. */
function addProbes(
  server: FastifyInstance,
  input: { host: string; readiness: ReadinessChecks; metrics: () => Promise<string>; logger: Logger },
): void {
  const { host, logger } = input;
  if (isLoopback(host)) {
    server.addHook(
      'onRequest',
      refuseForeignHosts(
        'Daybook listens on loopback and answers at localhost or 127.0.0.1 only: ask there, or set DAYBOOK_HTTP_HOST.',
      ),
    );
  }
  const readiness = createReadiness(input.readiness, logger);
  const metrics = oneAtATime(input.metrics);
  server.get('/healthz', () => ({ status: 'ok' }));
  server.get('/readyz', async (_request, reply) => {
    const answer = await readiness();
    return reply.code(answer.ready ? 200 : 503).send(answer);
  });
  server.get('/metrics', async (_request, reply) =>
    reply.type('text/plain; version=0.0.4; charset=utf-8').send(await metrics()),
  );
}

/** Answers every unknown route with 404 if there is no console. It does so before the body is read, since the client is not authenticated. */
function addNotFound(server: FastifyInstance, _options: unknown, done: () => void): void {
  const answer = (_request: FastifyRequest, reply: FastifyReply): FastifyReply =>
    reply.code(404).send({ error: 'There is nothing here.' });
  server.addHook('onRequest', (request, reply) => {
    answer(request, reply);
  });
  server.setNotFoundHandler(answer);
  done();
}

/** For a whole request to arrive, including a webhook of 2 MB. For the request, Node uses the longer of the first two. */
const patience = {
  requestTimeout: 20_000,
  headersTimeout: 10_000,
  connectionsCheckingInterval: 2_000,
  keepAliveTimeout: 72_000,
} as const;

/** A connection costs the server some memory, and costs its client nothing to hold. */
const mostConnections = 250;

async function listen(
  server: Pick<FastifyInstance, 'listen'>,
  address: { host: string; port: number; portIsDefault: boolean },
): Promise<string> {
  const { host, portIsDefault } = address;
  const lastPort = portIsDefault ? address.port + 99 : address.port;
  for (let port = address.port; ; port += 1) {
    try {
      return await server.listen({ host, port });
    } catch (error) {
      if (unusable.has(codeOf(error))) throw new HttpAddressUnusable({ host, port }, error);
      if (!isInUse(error)) throw error;
      if (port >= lastPort) throw new PortInUse({ host, port: address.port }, error);
    }
  }
}

const unusable = new Set<unknown>([
  'ENOTFOUND',
  'EAI_AGAIN',
  'EADDRNOTAVAIL',
  'EAFNOSUPPORT',
  'EACCES',
  'EINVAL',
]);

function isInUse(error: unknown): boolean {
  return codeOf(error) === 'EADDRINUSE';
}
