import { createAdminServer } from './admin/admin-server.ts';
import type { AdminService } from './admin/admin-service.ts';
import { describeConnection } from './admin/describe-connection.ts';
import { settingsSchema } from './api/settings.ts';
import { FaultRules } from './faults/fault-rules.ts';
import { createRandomFaults } from './faults/random-faults.ts';
import { createApiServer } from './http/api-server.ts';
import type { ApiService } from './http/api-service.ts';
import { RequestLog } from './http/request-log.ts';
import { sandboxOptionsSchema } from './sandbox-options.ts';
import type { SandboxOptions } from './sandbox-options.ts';
import { openWorld } from './world/open-world.ts';
import { entityWebhooks } from './webhooks/entity-webhooks.ts';
import { InitialUpdates } from './webhooks/initial-updates.ts';
import { WebhookSender } from './webhooks/webhook-sender.ts';
import type { World } from './world/world.ts';
import { JobBook } from './writes/job-book.ts';

/**
 * Starts the finance API as a server with its own world, and the admin interface beside it.
 *
 * @throws if an option is wrong, a port is taken or the journal is damaged.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const settled = sandboxOptionsSchema.parse(options);
  const { world, execute } = openWorld(settled);
  const webhooks = new WebhookSender(settled.clientSecret, settled.webhooks);
  const initialUpdates = new InitialUpdates(world, webhooks);
  const stopping = new AbortController();
  const service: AdminService & ApiService = {
    world,
    credentials: { clientId: settled.clientId, clientSecret: settled.clientSecret },
    faults: new FaultRules(),
    log: new RequestLog(),
    settings: settingsSchema.parse({}),
    randomFault: createRandomFaults(settled.chaos, world.description.seed),
    jobs: new JobBook(),
    webhooks,
    execute: (command) => {
      const executed = execute(command);
      if (webhooks.hasAddress) webhooks.publish(entityWebhooks(world, webhooks.settings, executed));
      initialUpdates.announce();
      return executed.result;
    },
    stopping: stopping.signal,
  };
  const watch = setInterval(() => {
    initialUpdates.announce();
  }, 100).unref();
  const api = createApiServer(service);
  const admin = createAdminServer(service, settled);
  try {
    const { host, port, adminPort } = settled;
    const url = await api.listen({ host, port });
    const adminUrl = await admin.listen({ host, port: adminPort });
    return { url, adminUrl, connections: describeConnections(world), close };
  } catch (error) {
    await close();
    throw error;
  }

  async function close(): Promise<void> {
    clearInterval(watch);
    stopping.abort();
    await Promise.all([api.close(), admin.close(), webhooks.close()]);
  }
}

function describeConnections(world: World): SandboxConnection[] {
  return [...world.connections.values()].map((connection) => {
    const { name, platform, accessToken, ready } = describeConnection(world, connection);
    return { name, platform, accessToken, ready };
  });
}

export interface Sandbox {
  /** The `{sandbox_base_url}` of the API document. */
  readonly url: string;
  readonly adminUrl: string;
  /** The connections at the start. */
  readonly connections: readonly SandboxConnection[];
  readonly close: () => Promise<void>;
}

export interface SandboxConnection {
  readonly name: string;
  readonly platform: string;
  readonly accessToken: string;
  readonly ready: boolean;
}
