import { webhookSignature } from '../../source/webhook-signature.ts';
import { object, text, type Fields } from '../support/finance-records.ts';
import { clientSecret } from '../support/installation.ts';

/** The id by which the service names the connection of a sandbox company. */
export function serviceIdOf(connection: string): string {
  return `conn-${connection}`;
}

/** The body of a webhook about a record, in raw JSON text (API document 6.2). */
export function entityWebhook(
  connection: string,
  { entity, what, record }: { entity: string; what: 'CREATED' | 'UPDATED' | 'DELETED'; record: string },
): string {
  return object({
    type: text(entity),
    code: text(`${entity}_${what}`),
    access_token: text(`token-of-${connection}`),
    connection_id: text(serviceIdOf(connection)),
    [entity.toLowerCase()]: record,
  });
}

export function connectionWebhook(connection: string, more: Fields = {}): string {
  return object({
    type: text('CONNECTION'),
    code: text('INITIAL_UPDATE'),
    connection_id: text(serviceIdOf(connection)),
    access_token: text(`token-of-${connection}`),
    ...more,
  });
}

/** Sends a webhook as the service does, and returns the status of the answer. */
export async function send(
  url: string,
  body: string,
  signature: string | null = webhookSignature(body, clientSecret),
): Promise<number> {
  const response = await fetch(`${url}/webhooks`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(signature === null ? {} : { 'x-service-signature': signature }),
    },
    body,
  });
  await response.text();
  return response.status;
}
