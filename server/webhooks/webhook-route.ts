import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { isDatabaseAway } from '../../warehouse/is-database-away.ts';
import type { Receipt, WebhookIntake } from '../../worker/webhooks/webhook-intake.ts';
import { noteWebhook, type WebhookOutcome } from '../../worker/webhooks/webhook-metrics.ts';

/** Some hundred times the largest record expected. */
const maximumBytes = 5 * 1024 * 1024;

/**
 * `POST /webhooks` (API document 6.2). 200 only when the webhook is stored; 401 for a signature that is not the service's; 400 and
 * 413 for what can be no webhook. Anything else is a 503, and the service sends it again.
 */
export function addWebhookRoute(
  server: FastifyInstance,
  { intake, logger }: { intake: WebhookIntake; logger: Logger },
): void {
  server.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    // The signature is about the bytes, whatever they are said to be.
    scope.addContentTypeParser(
      '*',
      { parseAs: 'buffer', bodyLimit: maximumBytes },
      (_request, body, parsed) => {
        parsed(null, body);
      },
    );
    scope.post('/webhooks', { bodyLimit: maximumBytes }, async (request, reply) => {
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const signature = request.headers['x-service-signature'];
      const receipt = await intake.receive(body, typeof signature === 'string' ? signature : undefined);
      noteWebhook(receipt, reply.elapsedTime);
      return reply.code(statuses[receipt]).send(answers[receipt]);
    });
    scope.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
      const outcome: WebhookOutcome = error.statusCode === 413 ? 'too large' : 'unavailable';
      noteWebhook(outcome, reply.elapsedTime);
      if (outcome === 'too large') return reply.code(413).send({ error: 'The body is larger than 5 MB.' });
      // What a database says may quote the body.
      const { name, message } = error;
      const reason = isDatabaseAway(error) ? message : name;
      logger.error({ reason }, 'A webhook could not be stored: the service sends it again.');
      return reply.code(503).send({ error: 'It could not be stored: send it again.' });
    });
    scope.addHook('onClose', () => {
      intake.close();
    });
    done();
  });
}

const statuses: Record<Receipt, number> = { stored: 200, forged: 401, unreadable: 400 };

const answers: Record<Receipt, object> = {
  stored: { status: 'stored' },
  forged: { error: 'The signature is not that of the service.' },
  unreadable: { error: 'The body is not a JSON object.' },
};
