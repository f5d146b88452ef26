import { ApiError } from '../api/api-error.ts';
import type { Parameters } from '../api/parameters.ts';
import type { Settings } from '../api/settings.ts';
import { batchesArrived, timeReached } from '../world/arrival.ts';
import type { Connection } from '../world/connection.ts';
import { isReady } from '../world/connection.ts';
import type { World } from '../world/world.ts';

/**
 * Returns the connection of a request (section 5.2) if it may be read now (section 7, rule 1).
 *
 * @throws ApiError like `openForWriting`, and 400 before the first sync is finished.
 */
export function openForReading({ world, settings }: Access, parameters: Parameters): Connection {
  const connection = openForWriting({ world }, parameters);
  const forced = parameters.oneOf('force_fetch', ['true', 'false']) === 'true';
  if (!forced) requireReady({ world, settings }, connection);
  return connection;
}

/** The same for events, which are not a data resource: `force_fetch` does not apply to them (4.1, 4.6). */
export function openForEvents({ world, settings }: Access, parameters: Parameters): Connection {
  const connection = openForWriting({ world }, parameters);
  requireReady({ world, settings }, connection);
  return connection;
}

function requireReady({ world, settings }: Access, connection: Connection): void {
  if (!isReady(connection, world.clock.now())) throw notReady(settings);
}

/**
 * Returns the connection of a request (section 5.2). Only reads wait for the first sync.
 *
 * @throws ApiError 400 without a token; 401 for an unknown token; the connection's own refusal if it has one.
 */
export function openForWriting({ world }: Pick<Access, 'world'>, parameters: Parameters): Connection {
  const token = parameters.text('access_token');
  if (token === null) throw new ApiError(400, 'INVALID_PARAMETER', 'The parameter access_token is missing.');
  const connection = world.connectionOfToken(token);
  if (connection === null)
    throw new ApiError(401, 'INVALID_CREDENTIALS', 'There is no connection with this access token.');
  const { refusal } = connection;
  if (refusal !== null)
    throw new ApiError(refusal.status, refusal.code, `The connection is refused: ${refusal.code}.`);
  return connection;
}

/** A job can be fetched with or without the token of its connection, because the address that clients get for it has none. */
export function openForJob(access: Access, parameters: Parameters): Connection | null {
  return parameters.text('access_token') === null ? null : openForWriting(access, parameters);
}

export function notReady(settings: Settings): ApiError {
  return new ApiError(
    settings.notReadyStatus,
    'PRODUCT_NOT_READY',
    'The first sync of this connection is not finished yet.',
  );
}

/** Returns the share of the first sync that has arrived: before it is finished, `force_fetch` sees only the first records. */
export function syncedSoFar(connection: Connection, now: number): number {
  const { arrival } = connection;
  const { addedAt, readyAt, batches } = arrival;
  if (isReady(connection, now)) return batchesArrived(arrival, now) / batches;
  return readyAt === null ? 0.5 : (timeReached(arrival, now) - addedAt) / (readyAt - addedAt);
}

/** Returns the `connection` object of section 2.1, as JSON text. */
export function renderConnection(connection: Connection): string {
  return JSON.stringify({ id: connection.id, orgId: connection.orgId, platform: connection.platformCode });
}

interface Access {
  readonly world: World;
  readonly settings: Settings;
}
