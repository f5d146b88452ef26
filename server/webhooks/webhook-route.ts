import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { isDatabaseAway } from '../../warehouse/session/is-database-away.ts';
import type { Receipt, WebhookIntake } from './webhook-intake.ts';
import { noteWebhook } from './webhook-metrics.ts';
import { countByTheMinute } from '../count-by-the-minute.ts';
import { readArrivingBodies, type BodyLimits } from './arriving-bodies.ts';
import { BodyRefused, type RefusedBecause } from './body-refused.ts';

/**
 * The largest webhook is that of a job: it holds the record twice, as sent and as answered (API document 2.10). A line of a bill is
 * about 600 bytes, so 2 MB hold a bill of 1,500 lines twice. All unverified bodies together hold 32 MB at most.
 */
const limits: BodyLimits = {
  bytes: 2 * 1024 * 1024,
  bodies: 64,
  bytesTogether: 32 * 1024 * 1024,
  leastBytesPerSecond: 128 * 1024,
  graceSeconds: 2,
  mostBytesPerSecond: 32 * 1024 * 1024,
};

/**
 * Adds `POST /webhooks` (API document 6.2). Answers 200 only if the webhook is stored, 401 if the signature is not the service's, and 400, 408
 * or 413 if the request cannot be a webhook. Anything else is a 503, and the service sends the webhook again.
 */
export function addWebhookRoute(
  server: FastifyInstance,
  { intake, logger }: { intake: WebhookIntake; logger: Logger },
): void {
  server.register((scope, _options, done) => {
    const bodies = readArrivingBodies(limits);
    const countRefused = countByTheMinute(logger, 'Bodies of webhooks were not read to their end.');
    scope.removeAllContentTypeParsers();
    // The signature covers the bytes, whatever their declared type; Fastify would answer an invalid type with an error of its own.
    scope.addHook('onRequest', (request, _reply, next) => {
      request.raw.headers['content-type'] = 'application/octet-stream';
      next();
    });
    scope.addContentTypeParser('*', async (request: FastifyRequest, payload: IncomingMessage) => {
      const length = request.headers['content-length'];
      return bodies.read(payload, length === undefined ? undefined : Number(length));
    });
    scope.post('/webhooks', async (request, reply) => {
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const signature = request.headers['x-service-signature'];
      const receipt = await intake.receive(body, typeof signature === 'string' ? signature : undefined);
      noteWebhook(receipt, reply.elapsedTime);
      return reply.code(statuses[receipt]).send(answers[receipt]);
    });
    scope.setErrorHandler((error: Error, request, reply) => {
      if (error instanceof BodyRefused) {
        noteWebhook(error.because, reply.elapsedTime);
        if (error.because !== 'too large') countRefused(error.because);
        // The rest of the request is not waited for.
        reply.raw.once('finish', () => request.raw.destroy());
        return refuse(reply, error.because);
      }
      noteWebhook('unavailable', reply.elapsedTime);
      // A database's error message may quote the body.
      const { name, message } = error;
      const reason = isDatabaseAway(error) ? message : name;
      logger.error({ reason }, 'A webhook could not be stored: the service sends it again.');
      return reply.code(503).send({ error: 'It could not be stored: send it again.' });
    });
    scope.addHook('onClose', () => {
      bodies.close();
      intake.close();
    });
    done();
  });
}

const statuses: Record<Receipt, number> = { stored: 200, forged: 401, unreadable: 400 };

const answers: Record<Receipt, object> = {
  stored: { status: 'stored' },
  forged: { error: 'The signature is not that of the service.' },
  unreadable: { error: 'The body is not a JSON object, or none that Postgres can hold.' },
};

function refuse(reply: FastifyReply, because: RefusedBecause): FastifyReply {
  const { status, error } = refusals[because];
  if (status === 503) reply.header('retry-after', retryAfterSeconds);
  return reply.code(status).send({ error });
}

const refusals: Record<RefusedBecause, { readonly status: number; readonly error: string }> = {
  'too large': { status: 413, error: 'The body is larger than 2 MB.' },
  'too slow': { status: 408, error: 'The body took too long to arrive: send it again.' },
  'turned away': { status: 503, error: 'Too much arrives at once: send it again.' },
  // Nobody is there to read this answer.
  'broken off': { status: 400, error: 'The body broke off: send it again.' },
};

const retryAfterSeconds = 5;
