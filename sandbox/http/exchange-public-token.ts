import * as z from 'zod';
import { ApiError } from '../api/api-error.ts';
import { isReady } from '../world/connection.ts';
import type { World } from '../world/world.ts';

/**
 * Returns the access token of a newly authorized connection (section 5.2; the shape is assumed). The public token of a
 * sandbox connection is `public-<name>`.
 *
 * @throws ApiError 400
 */
export function exchangePublicToken(world: World, body: string): string {
  const parsed = tokenSchema.safeParse(parse(body));
  if (!parsed.success) throw invalid('The body must have client_id, secret and public_token.');
  const connection = world.connections.get(parsed.data.public_token.replace(/^public-/, ''));
  if (connection === undefined) throw invalid('The public token is unknown.');
  return JSON.stringify({
    access_token: connection.accessToken,
    connection_id: connection.id,
    is_ready: isReady(connection, world.clock.now()),
    platform: connection.platformCode,
  });
}

/** Returns the credentials of an exchange, which are in its body, in the form of the header that every other request has. */
export function authorizationInBody(body: string): string | undefined {
  const parsed = credentialsSchema.safeParse(parse(body));
  if (!parsed.success) return undefined;
  const { client_id: clientId, secret } = parsed.data;
  return `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`;
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}

function invalid(message: string): ApiError {
  return new ApiError(400, 'INVALID_PARAMETER', message);
}

const credentialsSchema = z.object({ client_id: z.string(), secret: z.string() });
const tokenSchema = z.object({ public_token: z.string() });
