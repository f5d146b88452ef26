import type { ChaosProfile } from '../data/chaos-profile.ts';
import type { Connection } from './connection.ts';
import { ServiceClock } from './service-clock.ts';
import { CommandError } from './command-error.ts';

/** Everything that the service knows. It changes only through `executeCommand`. */
export function createWorld(description: WorldDescription): World {
  const connections = new Map<string, Connection>();
  return {
    description,
    clock: new ServiceClock(),
    connections,
    connectionNamed(name) {
      const connection = connections.get(name);
      if (connection === undefined) throw new CommandError(`No connection named ${name}.`);
      return connection;
    },
    connectionOfToken: (token) =>
      [...connections.values()].find(({ accessToken }) => accessToken === token) ?? null,
  };
}

export interface WorldDescription {
  readonly seed: number;
  /** The day when the books of connections were first read, Unix ms. */
  readonly asOf: number;
  readonly chaos: ChaosProfile;
}

export interface World {
  readonly description: WorldDescription;
  readonly clock: ServiceClock;
  readonly connections: Map<string, Connection>;
  /** @throws CommandError */
  connectionNamed(name: string): Connection;
  connectionOfToken(token: string): Connection | null;
}
