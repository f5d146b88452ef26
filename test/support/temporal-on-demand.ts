import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { freePort } from '../../embedded/free-port.ts';
import { startTemporal, type TemporalServer } from '../../embedded/temporal.ts';

/**
 * Most test files need no Temporal server, and they run in processes of their own: so it starts when the first of them asks
 * at `url`, which answers with its address.
 */
export async function temporalOnDemand(folder: string): Promise<TemporalOnDemand> {
  let starting: Promise<TemporalServer> | undefined;
  const server = createServer((_, response) => {
    starting ??= startIn(folder);
    starting.then(
      ({ address }) => response.end(address),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await (await starting?.catch(() => undefined))?.stop();
    },
  };
}

export interface TemporalOnDemand {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

async function startIn(folder: string): Promise<TemporalServer> {
  return startTemporal({
    databaseFile: join(folder, 'temporal.db'),
    port: await freePort(),
    uiPort: await freePort(),
    report: (progress) => process.stderr.write(`${progress}\n`),
  });
}
