import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Fault } from '../faults/fault-rule.ts';
import { playFault, sendAnswer } from '../faults/play-fault.ts';
import { readVersion } from './api-version.ts';
import { authenticate } from './authenticate.ts';
import type { DataRequest } from './data-request.ts';
import { notReady, openConnection } from './open-connection.ts';
import { Parameters } from './parameters.ts';
import type { Service } from './service.ts';

/**
 * Serves one request for data: faults first, as they happen on the way, then credentials, rate limit, version and
 * connection, then the answer, which is a function of the request and gives JSON text.
 */
export function createServe(service: Service, limitRate: () => void): Serve {
  return (answer) => async (request, reply) => {
    const [path = '', query = ''] = request.url.split('?');
    const parameters = new Parameters(query);
    const fault = logAndTakeFault(service, request, reply, { path, parameters });
    if (fault !== null && (await playFault(fault, reply))) return reply;
    if (fault?.kind === 'mutate') for (const command of fault.commands) service.execute(command);

    authenticate(request.headers.authorization, service.credentials);
    limitRate();
    const version = readVersion(request.headers['x-service-version']);
    const connection = openConnection(service.world, service.settings, parameters);
    if (fault?.kind === 'not-ready') throw notReady(service.settings);
    const data: DataRequest = {
      connection,
      parameters,
      version,
      settings: service.settings,
      now: service.world.clock.now(),
      repeatsCursor: fault?.kind === 'repeat-cursor',
      atMostRecords: fault?.kind === 'short-page' ? fault.records : null,
    };
    return sendAnswer(reply, answer(data, idOf(request.params)), fault);
  };
}

function logAndTakeFault(
  service: Service,
  request: FastifyRequest,
  reply: FastifyReply,
  target: Target,
): Fault | null {
  const { path, parameters } = target;
  const connection = service.world.connectionOfToken(parameters.text('access_token') ?? '')?.name ?? null;
  const query = parameters.forLog();
  const fault =
    service.faults.take({ path, query: decodeURIComponent(query.replaceAll('+', ' ')), connection }) ??
    service.randomFault();
  const version = request.headers['x-service-version'];
  const entry = service.log.add({
    at: Date.now(),
    method: request.method,
    path,
    query,
    connection,
    version: typeof version === 'string' ? version : null,
    fault: fault?.kind ?? null,
    status: null,
  });
  reply.raw.once('close', () => {
    entry.status = reply.raw.headersSent ? reply.raw.statusCode : null;
  });
  return fault;
}

function idOf(params: unknown): string {
  return typeof params === 'object' && params !== null && 'id' in params ? String(params.id) : '';
}

export type Serve = (
  answer: (request: DataRequest, id: string) => string,
) => (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

interface Target {
  readonly path: string;
  readonly parameters: Parameters;
}
