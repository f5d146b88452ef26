import type { FastifyReply, FastifyRequest } from 'fastify';
import { readVersion } from '../api/api-version.ts';
import type { Answer, DataRequest, RequestTarget } from '../api/data-request.ts';
import { Parameters } from '../api/parameters.ts';
import type { RequestFault } from '../faults/fault-rule.ts';
import { playFault, sendAnswer } from '../faults/play-fault.ts';
import type { Connection } from '../world/connection.ts';
import type { ApiService } from './api-service.ts';
import { authenticate } from './authenticate.ts';
import { notReady } from './open-connection.ts';

/**
 * Serves one request. Faults come first, as they occur on the way; then credentials, rate limit, version and connection; then the answer,
 * which is a function of the request. It is JSON text, with a status if that is not 200.
 */
export function createServe(service: ApiService, limitRate: () => void): Serve {
  return (open, answer, authorizationOf = authorizationInHeader) =>
    async (request, reply) => {
      const { path, query } = splitUrl(request.url);
      const sent = new Parameters(query);
      const target = requestTarget(service, { method: request.method, path, parameters: sent });
      const fault = logAndTakeFault(service, request, reply, { target, parameters: sent });
      if (fault !== null && (await playFault(fault, reply))) return reply;
      if (fault?.kind === 'mutate') for (const command of fault.commands) service.execute(command);

      const parameters =
        fault?.kind === 'another-connection'
          ? sent.withToken(service.world.connectionNamed(fault.connection).accessToken)
          : sent;
      authenticate(authorizationOf(request), service.credentials);
      limitRate();
      const version = readVersion(request.headers['x-service-version']);
      const connection = open(service, parameters);
      if (fault?.kind === 'not-ready') throw notReady(service.settings);
      const data = {
        connection,
        parameters,
        version,
        settings: service.settings,
        now: service.world.clock.now(),
        repeatsCursor: fault?.kind === 'repeat-cursor',
        atMostRecords: fault?.kind === 'short-page' ? fault.records : null,
        target,
        url: `http://${request.host}${request.url}`,
        idempotencyKey: readIdempotencyKey(request),
        body: asText(request.body) ?? '',
      };
      const given = await answer(data, readId(request.params));
      return sendAnswer(reply, typeof given === 'string' ? { status: 200, body: given } : given, fault);
    };
}

function authorizationInHeader(request: FastifyRequest): string | undefined {
  return request.headers.authorization;
}

/** Splits a URL at the first question mark: the query may contain others unescaped (RFC 3986, 3.4). */
function splitUrl(url: string): { path: string; query: string } {
  const at = url.indexOf('?');
  return at === -1 ? { path: url, query: '' } : { path: url.slice(0, at), query: url.slice(at + 1) };
}

function requestTarget(service: ApiService, { method, path, parameters }: Asked): RequestTarget {
  const connection = service.world.connectionOfToken(parameters.text('access_token') ?? '')?.name ?? null;
  return { method, path, query: decodeURIComponent(parameters.forLog().replaceAll('+', ' ')), connection };
}

function logAndTakeFault(
  service: ApiService,
  request: FastifyRequest,
  reply: FastifyReply,
  { target, parameters }: Arrival,
): RequestFault | null {
  const fault = service.faults.take(target) ?? service.randomFault();
  const entry = service.log.add({
    at: Date.now(),
    method: target.method,
    path: target.path,
    query: parameters.forLog(),
    connection: target.connection,
    version: asText(request.headers['x-service-version']),
    fault: fault?.kind ?? null,
    ...(fault !== null && 'retryAfter' in fault && fault.retryAfter !== undefined
      ? { retryAfter: fault.retryAfter }
      : {}),
    status: null,
  });
  reply.raw.once('close', () => {
    entry.status = reply.raw.headersSent ? reply.raw.statusCode : null;
  });
  return fault;
}

function readId(params: unknown): string {
  return typeof params === 'object' && params !== null && 'id' in params ? String(params.id) : '';
}

/** An empty header is no key. */
function readIdempotencyKey(request: FastifyRequest): string | null {
  const key = asText(request.headers['idempotency-key']);
  return key === '' ? null : key;
}

function asText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/**
 * `open` returns the connection that the request may use, or throws. `authorizationOf` returns the credentials, by default from the
 * request's header.
 */
export type Serve = <Opened extends Connection | null>(
  open: (service: ApiService, parameters: Parameters) => Opened,
  answer: (request: DataRequest<Opened>, id: string) => string | Answer | Promise<Answer>,
  authorizationOf?: (request: FastifyRequest) => string | undefined,
) => (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly parameters: Parameters;
}

interface Arrival {
  readonly target: RequestTarget;
  readonly parameters: Parameters;
}
