import type { ConnectionDescription } from '../../sandbox/admin/describe-connection.ts';
import type { ActivityInput } from '../../sandbox/admin/plan-activity.ts';
import type { ResourceName } from '../../sandbox/api/resources.ts';
import type { Settings, SettingsInput } from '../../sandbox/api/settings.ts';
import type { FaultRuleInput } from '../../sandbox/faults/fault-rule.ts';
import type { LoggedRequest } from '../../sandbox/http/request-log.ts';
import type { Command, CommandInput } from '../../sandbox/world/command.ts';
import type { CommandResult } from '../../sandbox/world/execute-command.ts';
import type { LoggedDelivery } from '../../sandbox/webhooks/delivery-log.ts';
import type { WebhookSettings, WebhookSettingsInput } from '../../sandbox/webhooks/webhook-settings.ts';

/** A client of the sandbox's admin interface, which sandbox/README.md describes. */
export function createSandboxAdmin(adminUrl: string): SandboxAdmin {
  async function call(method: string, path: string, body?: unknown): Promise<Response> {
    const response = await fetch(adminUrl + path, {
      method,
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    });
    if (!response.ok)
      throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
    return response;
  }
  const json = async <T>(method: string, path: string, body?: unknown) =>
    (await (await call(method, path, body)).json()) as T;

  return {
    connections: () => json('GET', '/connections'),
    connection: (name) => json('GET', `/connections/${name}`),
    content: async (connection, resource, options) => {
      const query = new URLSearchParams();
      if (options?.expandPlatformData === true) query.set('expand', 'platform_data');
      if (options?.limit !== undefined) query.set('limit', String(options.limit));
      const response = await call('GET', `/content/${connection}/${resource}?${query.toString()}`);
      return (await response.text()).split('\n').slice(0, -1);
    },
    execute: (...commands) => json('POST', '/commands', commands),
    activity: async (activity) =>
      (await json<{ commands: Command[] }>('POST', '/activity', activity)).commands,
    addFault: async (rule) => (await json<{ id: number }>('POST', '/faults', rule)).id,
    clearFaults: async () => {
      await call('DELETE', '/faults');
    },
    requests: async () => (await json<{ requests: LoggedRequest[] }>('GET', '/requests')).requests,
    clearRequests: async () => {
      await call('DELETE', '/requests');
    },
    now: async () => (await json<{ now: number }>('GET', '/clock')).now,
    configure: (settings) => json('PUT', '/settings', settings),
    sendWebhooks: (settings) => json('PUT', '/webhooks', settings),
    deliveries: () => json('GET', '/webhooks/deliveries'),
  };
}

export interface SandboxAdmin {
  connections(): Promise<ConnectionDescription[]>;
  connection(name: string): Promise<ConnectionDescription>;
  /** Every record as the API has it now, each as JSON text. */
  content(
    connection: string,
    resource: ResourceName,
    options?: { expandPlatformData?: boolean | undefined; limit?: number },
  ): Promise<string[]>;
  execute(...commands: CommandInput[]): Promise<CommandResult[]>;
  /** Changes, touches and deletes some records of every resource. Returns the commands. */
  activity(activity: ActivityInput): Promise<Command[]>;
  addFault(rule: FaultRuleInput): Promise<number>;
  clearFaults(): Promise<void>;
  requests(): Promise<LoggedRequest[]>;
  clearRequests(): Promise<void>;
  /** The service's time, Unix ms. */
  now(): Promise<number>;
  /** Replaces the settings. Settings left out return to their defaults. */
  configure(settings: SettingsInput): Promise<Settings>;
  /** Replaces the settings of the webhooks. Settings left out return to their defaults. */
  sendWebhooks(settings: WebhookSettingsInput): Promise<WebhookSettings>;
  /** The outcomes of the newest webhooks. `waiting` counts those still on their way. */
  deliveries(): Promise<{ total: number; waiting: number; deliveries: LoggedDelivery[] }>;
}
