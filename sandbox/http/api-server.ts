import { randomUUID } from 'node:crypto';
import fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import { ApiError, asApiError } from '../api/api-error.ts';
import { resourceNames, resources } from '../api/resources.ts';
import { fetchJob } from '../writes/fetch-job.ts';
import { writeEndpoints } from '../writes/write-endpoints.ts';
import type { ApiService } from './api-service.ts';
import { exchangePublicToken } from './exchange-public-token.ts';
import { fetchRecord } from './fetch-record.ts';
import { listEvents } from './list-events.ts';
import { listRecords } from './list-records.ts';
import { openForEvents, openForJob, openForReading, openForWriting } from './open-connection.ts';
import { createRateLimit } from './rate-limit.ts';
import { createServe } from './serve.ts';

/** The finance API: sections 4.2 to 4.7. What is not served answers 404, as section 7 has it. */
export function createApiServer(service: ApiService): FastifyInstance {
  const app = fastify({
    forceCloseConnections: true,
    // Section 4: an `:id` is any text.
    routerOptions: { maxParamLength: 100_000 },
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
    reply.header('x-service-request-id', randomUUID());
    // The service's own time, which is what every time in its answers is too.
    if (service.settings.tellsTime) reply.header('date', new Date(service.world.clock.now()).toUTCString());
    else reply.raw.sendDate = false;
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
  app.post('/item/public_token/exchange', (request, reply) => {
    const body = typeof request.body === 'string' ? request.body : '';
    return reply.type('application/json').send(exchangePublicToken(service.world, service.credentials, body));
  });

  app.setNotFoundHandler(
    serve(openForWriting, () => {
      throw new ApiError(404, 'NOT_SUPPORTED', 'This endpoint is not implemented.');
    }),
  );
  app.setErrorHandler((error, _request, reply) => {
    const answer = asApiError(error);
    return reply.code(answer.status).headers(answer.headers).type('application/json').send(answer.body());
  });
  return app;
}
