import * as z from 'zod';
import { ApiError } from '../api/api-error.ts';
import { isReady } from '../world/connection.ts';
import type { World } from '../world/world.ts';
import { authenticate } from './authenticate.ts';
import type { Credentials } from './authenticate.ts';

/**
 * Gives the access token of a newly authorised connection (section 5.2; the shape is assumed). The public token of a
 * sandbox connection is `public-<name>`.
 *
 * @throws ApiError 400, 401
 */
export function exchangePublicToken(world: World, credentials: Credentials, body: string): string {
  const parsed = bodySchema.safeParse(parse(body));
  if (!parsed.success) throw invalid('The body must have client_id, secret and public_token.');
  const { client_id: clientId, secret, public_token: publicToken } = parsed.data;
  authenticate(`Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`, credentials);
  const connection = world.connections.get(publicToken.replace(/^public-/, ''));
  if (connection === undefined) throw invalid('The public token is unknown.');
  return JSON.stringify({
    access_token: connection.accessToken,
    connection_id: connection.id,
    is_ready: isReady(connection, world.clock.now()),
    platform: connection.platformCode,
  });
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    throw Object.assign(invalid('The body is no JSON.'), { cause: error });
  }
}

function invalid(message: string): ApiError {
  return new ApiError(400, 'INVALID_PARAMETER', message);
}

const bodySchema = z.object({ client_id: z.string(), secret: z.string(), public_token: z.string() });
