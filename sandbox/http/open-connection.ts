import type { Connection } from '../world/connection.ts';
import { isReady } from '../world/connection.ts';
import type { World } from '../world/world.ts';
import { ApiError } from './api-error.ts';
import type { Parameters } from './parameters.ts';
import type { Settings } from './settings.ts';

/**
 * The connection a request is about (section 5.2), if it may be read now (section 7, rule 1).
 *
 * @throws ApiError 400 without a token or before the first sync is finished; 401, or what the connection was told, when
 * it cannot be used.
 */
export function openConnection(world: World, settings: Settings, parameters: Parameters): Connection {
  const token = parameters.text('access_token');
  if (token === null) throw new ApiError(400, 'INVALID_PARAMETER', 'The parameter access_token is missing.');
  const connection = world.connectionOfToken(token);
  if (connection === null)
    throw new ApiError(401, 'INVALID_CREDENTIALS', 'There is no connection with this access token.');
  const { refusal } = connection;
  if (refusal !== null)
    throw new ApiError(refusal.status, refusal.code, `The connection is refused: ${refusal.code}.`);
  const forced = parameters.oneOf('force_fetch', ['true', 'false']) === 'true';
  if (!forced && !isReady(connection, world.clock.now())) throw notReady(settings);
  return connection;
}

export function notReady(settings: Settings): ApiError {
  return new ApiError(
    settings.notReadyStatus,
    'PRODUCT_NOT_READY',
    'The first sync of this connection is not finished yet.',
  );
}

/** Which of the records of the first sync are already there: before it is finished, `force_fetch` sees only the first ones. */
export function syncedSoFar(connection: Connection, now: number): number {
  if (isReady(connection, now)) return 1;
  if (connection.readyAt === null) return 0.5;
  return Math.min(1, Math.max(0, (now - connection.addedAt) / (connection.readyAt - connection.addedAt)));
}

/** The `connection` object of section 2.1, as JSON text. */
export function renderConnection(connection: Connection): string {
  return JSON.stringify({ id: connection.id, orgId: connection.orgId, platform: connection.platformCode });
}
