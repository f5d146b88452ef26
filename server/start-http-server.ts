import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { codeOf } from '../errors/code-of.ts';
import { reasonOf } from '../errors/reason-of.ts';
import { isLoopback } from '../config/is-loopback.ts';
import type { WebhookIntake } from '../worker/webhooks/webhook-intake.ts';
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

/** The port was asked for by name and is taken. */
class PortInUse extends Error {
  override readonly name = 'PortInUse';

  constructor(address: { host: string; port: number }, cause: unknown) {
    super(
      `Port ${address.port} of ${address.host} is in use: stop what listens there, or set DAYBOOK_HTTP_PORT to another one.`,
      { cause },
    );
  }
}

/** There is no such address here, or this user may not listen there. */
class HttpAddressUnusable extends Error {
  override readonly name = 'HttpAddressUnusable';

  constructor({ host, port }: { host: string; port: number }, cause: unknown) {
    super(
      `The HTTP server cannot listen on port ${port} of ${host} (${String(codeOf(cause))}): set DAYBOOK_HTTP_HOST to an address of ` +
        'this machine, and DAYBOOK_HTTP_PORT to a port that this user may listen on.',
      { cause },
    );
  }
}

/**
 * HTTP for machines: `/healthz` (the process lives), `/readyz` (it can work), `/metrics` (Prometheus); for people the console.
 * A port that nobody asked for gives way to the next ones; throws PortInUse for one that somebody did, and
 * HttpAddressUnusable.
 */
export async function startHttpServer(input: {
  host: string;
  port: number;
  portIsDefault: boolean;
  readiness: ReadinessChecks;
  metrics: () => Promise<string>;
  /** Where `POST /webhooks` goes; without it there is none. */
  webhooks?: WebhookIntake;
  /** What the console at `/` shows and acts on; without it there is none. */
  console?: ConsoleParts;
  logger: Logger;
}): Promise<HttpServer> {
  const { logger } = input;
  // Probes and scrapes come every few seconds: with a line for each, the log would have nothing else.
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

/** Nobody has to know who asks; a web page that makes its own name point at loopback has no business here. */
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

/** Where no console answers for what is nowhere: before the body is read, since nobody has said who asks. */
function addNotFound(server: FastifyInstance, _options: unknown, done: () => void): void {
  const answer = (_request: FastifyRequest, reply: FastifyReply): FastifyReply =>
    reply.code(404).send({ error: 'There is nothing here.' });
  server.addHook('onRequest', (request, reply) => {
    answer(request, reply);
  });
  server.setNotFoundHandler(answer);
  done();
}

/** For a whole request to arrive, the 2 MB of a webhook too. Node takes the longer of the first two for the request, whichever it is. */
const patience = {
  requestTimeout: 20_000,
  headersTimeout: 10_000,
  connectionsCheckingInterval: 2_000,
  keepAliveTimeout: 72_000,
} as const;

/** Each costs some memory, and its client costs nothing to hold it. */
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

const unusable = new Set<unknown>(['ENOTFOUND', 'EAI_AGAIN', 'EADDRNOTAVAIL', 'EACCES', 'EINVAL']);

function isInUse(error: unknown): boolean {
  return codeOf(error) === 'EADDRINUSE';
}
