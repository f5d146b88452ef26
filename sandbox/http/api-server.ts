import { randomUUID } from 'node:crypto';
import fastify from 'fastify';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, asApiError } from '../api/api-error.ts';
import { resourceNames, resources } from '../api/resources.ts';
import { fetchJob } from '../writes/fetch-job.ts';
import { writeEndpoints } from '../writes/write-endpoints.ts';
import type { ApiService } from './api-service.ts';
import { authorizationInBody, exchangePublicToken } from './exchange-public-token.ts';
import { fetchRecord } from './fetch-record.ts';
import { listEvents } from './list-events.ts';
import { listRecords } from './list-records.ts';
import { openForEvents, openForJob, openForReading, openForWriting } from './open-connection.ts';
import { createRateLimit } from './rate-limit.ts';
import { createServe } from './serve.ts';

/** Creates the finance API of sections 4.2 to 4.7. Everything else answers 404, as section 7 requires. */
export function createApiServer(service: ApiService): FastifyInstance {
  const app = fastify({
    forceCloseConnections: true,
    // Section 4: an `:id` can be any text.
    routerOptions: { maxParamLength: 100_000 },
    // The document has no limit. This is more than any record in Daybook's tests.
    bodyLimit: 32 * 1024 * 1024,
    frameworkErrors: (_error, request, reply) => {
      startReply(reply);
      // Not Fastify's own message, which repeats the address with its access token.
      void refuse(new ApiError(400, 'INVALID_REQUEST', 'The address cannot be decoded.'), request, reply);
    },
  });
  const serve = createServe(
    service,
    createRateLimit(() => service.settings),
  );

  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => {
    done(null, body);
  });
  app.removeContentTypeParser('application/json');
  app.addHook('onRequest', (_request, reply, done) => {
    startReply(reply);
    done();
  });

  for (const name of resourceNames) {
    const { path } = resources[name];
    app.get(
      path,
      serve(openForReading, (request) => listRecords(request, name)),
    );
    if (name !== 'subscriptions')
      app.get(
        `${path}/:id`,
        serve(openForReading, (request, id) => fetchRecord(request, name, id)),
      );
  }
  for (const { method, path, answer } of writeEndpoints(service))
    app.route({ method, url: path, handler: serve(openForWriting, answer) });
  app.get(
    '/v2/jobs/:id',
    serve(openForJob, (request, id) => fetchJob(service.jobs, request, id)),
  );
  app.get('/events', serve(openForEvents, listEvents));
  app.post(
    '/item/public_token/exchange',
    serve(
      () => null,
      ({ body }) => exchangePublicToken(service.world, body),
      ({ body }) => authorizationInBody(typeof body === 'string' ? body : ''),
    ),
  );

  app.setNotFoundHandler(
    serve(openForWriting, () => {
      throw new ApiError(404, 'NOT_SUPPORTED', 'This endpoint is not implemented.');
    }),
  );
  app.setErrorHandler<FastifyError>((error, request, reply) =>
    isOfFastify(error) ? refuse(asApiError(error), request, reply) : sendError(error, reply),
  );
  return app;

  function startReply(reply: FastifyReply): void {
    reply.header('x-service-request-id', randomUUID());
    // The service's own time, like every time in its answers.
    if (service.settings.tellsTime) reply.header('date', new Date(service.world.clock.now()).toUTCString());
    else reply.raw.sendDate = false;
  }

  /** Answers requests that Fastify refuses before an endpoint sees them; as everywhere, credentials come first (section 5.1). */
  async function refuse(
    error: ApiError,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    const refused = serve(openForWriting, () => {
      throw error;
    });
    try {
      return await refused(request, reply);
    } catch (answer) {
      return sendError(answer, reply);
    }
  }
}

/** True for Fastify's own errors, such as a body that is too large or cut off. */
function isOfFastify(error: FastifyError): boolean {
  return typeof error.code === 'string' && error.code.startsWith('FST_');
}

function sendError(error: unknown, reply: FastifyReply): FastifyReply {
  const answer = asApiError(error);
  return reply.code(answer.status).headers(answer.headers).type('application/json').send(answer.body());
}
