import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { freePort } from '../../embedded/free-port.ts';
import { startTemporal, type TemporalServer } from '../../embedded/temporal.ts';
import { registerNamespace } from './register-namespace.ts';

/**
 * Most test files need no Temporal server, and they run in processes of their own: so it starts when the first of them asks
 * at `url`. `/address` answers with its address; `/namespace` with a namespace as well, registered before somebody waits for it.
 */
export async function temporalOnDemand(folder: string): Promise<TemporalOnDemand> {
  let starting: Promise<ServerWithNamespaces> | undefined;
  const server = createServer(({ url }, response) => {
    starting ??= startIn(folder).then(withNamespaces);
    starting
      .then(async (started) =>
        url === '/namespace' ? JSON.stringify(await started.nextNamespace()) : started.address,
      )
      .then(
        (answer) => response.end(answer),
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

export interface RegisteredNamespace {
  readonly address: string;
  readonly namespace: string;
}

interface ServerWithNamespaces {
  readonly address: string;
  readonly nextNamespace: () => Promise<RegisteredNamespace>;
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

/** One is given out every few seconds, by as many files as run at once. */
const namespacesAhead = 3;

async function withNamespaces({ address, stop }: TemporalServer): Promise<ServerWithNamespaces> {
  const connection = await Connection.connect({ address });
  const register = (): Promise<RegisteredNamespace> => {
    const registered = registerNamespace(connection).then((namespace) => ({ address, namespace }));
    registered.catch(() => undefined); // Whoever gets it is told.
    return registered;
  };
  const ahead = Array.from({ length: namespacesAhead }, register);
  return {
    address,
    nextNamespace: () => {
      ahead.push(register());
      return ahead.shift() ?? register();
    },
    stop: async () => {
      await Promise.allSettled(ahead);
      await connection.close();
      await stop();
    },
  };
}
