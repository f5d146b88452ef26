import { resourceNames } from '../api/resources.ts';
import type { ResourceName } from '../api/resources.ts';
import { isReady } from '../world/connection.ts';
import type { Connection } from '../world/connection.ts';
import type { World } from '../world/world.ts';

/** Describes a connection for the admin interface, with its current number of records. */
export function describeConnection(world: World, connection: Connection): ConnectionDescription {
  const counts = {} as Record<ResourceName, number>;
  for (const name of resourceNames) counts[name] = connection.collections[name].size;
  return {
    name: connection.name,
    id: connection.id,
    platform: connection.platformCode,
    accessToken: connection.accessToken,
    publicToken: `public-${connection.name}`,
    ready: isReady(connection, world.clock.now()),
    counts,
    events: connection.events.length,
  };
}

export interface ConnectionDescription {
  readonly name: string;
  /** `connection.id` in answers of the API. */
  readonly id: string;
  readonly platform: string;
  readonly accessToken: string;
  readonly publicToken: string;
  readonly ready: boolean;
  readonly counts: Readonly<Record<ResourceName, number>>;
  readonly events: number;
}
