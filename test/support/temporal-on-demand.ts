import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { freePort } from '../../embedded/free-port.ts';
import { startTemporal, type TemporalServer } from '../../embedded/temporal.ts';
import { answerOnDemand, type OnDemand } from './on-demand.ts';
import { registerNamespace } from './register-namespace.ts';

/**
 * Starts the Temporal server when the first test file asks at `url`, because most files need none. `/address` answers with its address;
 * `/namespace` adds a namespace that was registered in advance.
 */
export async function temporalOnDemand(folder: string): Promise<OnDemand> {
  let starting: Promise<ServerWithNamespaces> | undefined;
  const { url, stop } = await answerOnDemand(async (path) => {
    starting ??= startIn(folder).then(withNamespaces);
    const { address, nextNamespace } = await starting;
    return path === '/namespace' ? JSON.stringify(await nextNamespace()) : address;
  });
  return {
    url,
    stop: async () => {
      stop();
      await (await starting?.catch(() => undefined))?.stop();
    },
  };
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

/** Test files that run concurrently take one every few seconds. */
const namespacesAhead = 3;

async function withNamespaces({ address, stop }: TemporalServer): Promise<ServerWithNamespaces> {
  const connection = await Connection.connect({ address });
  const register = (): Promise<RegisteredNamespace> => {
    const registered = registerNamespace(connection).then((namespace) => ({ address, namespace }));
    registered.catch(() => undefined); // The caller that gets it sees the error.
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
