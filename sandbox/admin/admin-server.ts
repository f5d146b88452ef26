import { Readable } from 'node:stream';
import fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import { resourceNames } from '../api/resources.ts';
import { settingsSchema } from '../api/settings.ts';
import { faultRuleSchema } from '../faults/fault-rule.ts';
import { commandSchema } from '../world/command.ts';
import { webhookAddressSchema, webhookSettingsSchema } from '../webhooks/webhook-settings.ts';
import { CommandError } from '../world/command-error.ts';
import type { AdminService } from './admin-service.ts';
import { isLoopbackHost } from './loopback.ts';
import { activitySchema, planActivity } from './plan-activity.ts';
import { describeConnection } from './describe-connection.ts';
import { contentLines } from './content-lines.ts';

/**
 * The test interface of the sandbox, on its own port: it inspects the world, changes it and breaks the API on purpose. Its clients
 * can have webhooks sent to loopback, and to `webhookHosts`.
 */
export function createAdminServer(
  service: AdminService,
  { webhookHosts }: { readonly webhookHosts: readonly string[] },
): FastifyInstance {
  const app = fastify({ forceCloseConnections: true, bodyLimit: 256 * 1024 * 1024 });
  const { world, faults, log, webhooks } = service;

  // A web page elsewhere can make its own host name resolve here, and would then share this origin.
  app.addHook('onRequest', async (request, reply) => {
    if (isLoopbackHost(request.headers.host ?? '')) return;
    await reply.code(403).send({ error: 'The admin interface answers at localhost or 127.0.0.1 only.' });
  });

  app.get('/connections', () =>
    [...world.connections.values()].map((connection) => describeConnection(world, connection)),
  );
  app.get('/connections/:connection', (request) =>
    describeConnection(world, world.connectionNamed(connectionParams.parse(request.params).connection)),
  );
  app.get('/content/:connection/:resource', (request, reply) => {
    const { connection, resource } = contentParams.parse(request.params);
    const { expand, limit } = contentQuery.parse(request.query);
    const collection = world.connectionNamed(connection).collections[resource];
    const lines = contentLines(collection, { expanded: expand === 'platform_data', limit });
    return reply.type('application/x-ndjson').send(Readable.from(lines));
  });

  app.post('/commands', (request) => {
    const commands = z
      .union([commandSchema.transform((command) => [command]), z.array(commandSchema)])
      .parse(request.body);
    return commands.map((command) => service.execute(command));
  });
  app.post('/activity', (request) => {
    const commands = planActivity(world, activitySchema.parse(request.body));
    for (const command of commands) service.execute(command);
    return { commands };
  });

  app.get('/faults', () => faults.list());
  app.post('/faults', (request) => ({ id: faults.add(faultRuleSchema.parse(request.body)) }));
  app.delete('/faults', () => {
    faults.clear();
    return {};
  });

  app.get('/requests', () => ({ total: log.total, requests: log.list() }));
  app.delete('/requests', () => {
    log.clear();
    return {};
  });

  app.get('/webhooks', () => webhooks.settings);
  app.put('/webhooks', async (request) => {
    const settings = webhookSettingsSchema.parse(request.body);
    settings.addresses.forEach(checkTarget);
    await webhooks.configure(settings);
    return webhooks.settings;
  });
  app.get('/webhooks/deliveries', () => {
    const { waiting, dropped, log } = webhooks;
    return { total: log.total, waiting, dropped, deliveries: log.list() };
  });
  app.delete('/webhooks/deliveries', () => {
    webhooks.clear();
    return {};
  });
  app.post('/webhooks/send', (request) => {
    const message = messageSchema.parse(request.body);
    if (message.address !== undefined) checkTarget(message.address);
    return webhooks.sendOnce(message);
  });

  app.get('/clock', () => ({ now: world.clock.now() }));
  app.get('/settings', () => service.settings);
  app.put('/settings', (request) => {
    service.settings = settingsSchema.parse(request.body);
    return service.settings;
  });

  app.setErrorHandler((error, _request, reply) => {
    return reply.code(httpStatus(error)).send({ error: error instanceof Error ? error.message : 'Unknown.' });
  });
  return app;

  function checkTarget(address: string): void {
    const { hostname } = new URL(address);
    if (!isLoopbackHost(hostname) && !webhookHosts.includes(hostname)) throw new ForeignTarget(address);
  }
}

class ForeignTarget extends Error {
  override readonly name = 'ForeignTarget';

  constructor(address: string) {
    super(`Webhooks go to this machine only, and ${address} is elsewhere: give an address of 127.0.0.1.`);
  }
}

function httpStatus(error: unknown): number {
  if (error instanceof CommandError) return 404;
  if (error instanceof z.ZodError || error instanceof ForeignTarget) return 400;
  // Bodies that Fastify refuses: of another type than JSON, not valid JSON, or too large.
  const { statusCode } = error as { statusCode?: number };
  return statusCode !== undefined && statusCode < 500 ? statusCode : 500;
}

const connectionParams = z.object({ connection: z.string() });
const contentParams = connectionParams.extend({ resource: z.enum(resourceNames) });
const messageSchema = z.strictObject({
  body: z.string(),
  signature: z.string().nullish(),
  address: webhookAddressSchema.optional(),
});
const contentQuery = z.object({
  expand: z.literal('platform_data').optional(),
  limit: z.coerce.number().default(Infinity),
});
