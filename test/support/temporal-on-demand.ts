import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { freePort } from '../../embedded/free-port.ts';
import { startTemporal, type TemporalServer } from '../../embedded/temporal.ts';
import { answerOnDemand, type OnDemand } from './on-demand.ts';
import { registerNamespace } from './register-namespace.ts';

/**
 * Most test files need no Temporal server, and they run in processes of their own: so it starts when the first of them asks
 * at `url`. `/address` answers with its address; `/namespace` with a namespace as well, registered before somebody waits for it.
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
