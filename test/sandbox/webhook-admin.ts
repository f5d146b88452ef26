import type { LoggedDelivery } from '../../sandbox/webhooks/delivery-log.ts';
import type { WebhookSettingsInput } from '../../sandbox/webhooks/webhook-settings.ts';

/** A client of the webhook part of the sandbox's admin interface. */
export function createWebhookAdmin(adminUrl: string): WebhookAdmin {
  async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(adminUrl + path, {
      method,
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    });
    if (!response.ok)
      throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  }
  return {
    configure: (settings) => call('PUT', '/webhooks', settings),
    deliveries: () => call('GET', '/webhooks/deliveries'),
    clear: () => call('DELETE', '/webhooks/deliveries'),
    send: (message) => call('POST', '/webhooks/send', message),
  };
}

export interface WebhookAdmin {
  configure(settings: WebhookSettingsInput): Promise<unknown>;
  deliveries(): Promise<Deliveries>;
  clear(): Promise<unknown>;
  send(message: {
    body: string;
    signature?: string | null;
    address?: string;
  }): Promise<{ address: string; status: number | null; error: string | null }[]>;
}

interface Deliveries {
  readonly total: number;
  readonly waiting: number;
  readonly dropped: number;
  readonly deliveries: LoggedDelivery[];
}
