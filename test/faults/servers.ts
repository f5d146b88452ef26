import { afterAll } from 'vitest';
import { openHome, type Home } from '../../embedded/home.ts';
import { startEmbedded, type EmbeddedStep } from '../../embedded/start-embedded.ts';
import { migrate } from '../../warehouse/schema/migrate.ts';
import { openWarehouse } from '../../warehouse/open-warehouse.ts';
import { createInstallation, type Installation } from '../support/installation.ts';
import { giveOwnPorts } from '../support/own-ports.ts';

/** An installation on its own Postgres and Temporal server. A server that dies is restarted, as the product's supervisor restarts it. */
export async function openServers(folder: string): Promise<Servers> {
  const home = await openHome(folder);
  await giveOwnPorts(home);
  const waiting = new Map<string, () => void>();
  const { postgres, temporal, stop } = await startEmbedded({
    home,
    postgres: true,
    temporal: true,
    sandbox: false,
    httpPort: 0,
    onStep: ({ server, state }) => {
      if (state === 'restarted') waiting.get(server)?.();
    },
  });
  if (postgres === undefined || temporal === undefined) throw new Error('The servers did not start.');
  const warehouse = openWarehouse({ url: postgres.url, connections: 5 });
  afterAll(async () => {
    await warehouse.close();
    await stop();
  });
  await migrate(warehouse);
  const installation = await createInstallation({
    database: { url: postgres.url, warehouse },
    temporalAddress: temporal.address,
  });
  return {
    ...installation,
    home,
    restarted: (server) => new Promise((resolve) => waiting.set(server, resolve)),
  };
}

export interface Servers extends Installation {
  readonly home: Home;
  /** Resolves when the server has died and is up again. */
  readonly restarted: (server: EmbeddedStep['server']) => Promise<void>;
}
