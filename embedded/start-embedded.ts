import { join } from 'node:path';
import { inOrder } from '../errors/in-order.ts';
import { lockHome } from './home-lock.ts';
import type { Home } from './home.ts';
import { keepRunning, type EmbeddedServer, type RestartEvent } from './keep-running.ts';
import { onFreePorts, onSamePorts } from './on-free-ports.ts';
import { preferredPorts, rememberPorts, type Ports } from './ports.ts';
import { startPostgres, stopOrphanedPostgres, type PostgresServer } from './postgres.ts';
import type { RuntimeSandbox } from './runtime-file.ts';
import { sendWebhooksTo } from './send-webhooks-to.ts';
import {
  startSandboxProcess,
  stopOrphanedSandbox,
  type SandboxOptions,
  type SandboxServer,
} from './sandbox.ts';
import { startTemporal, stopOrphanedTemporal, type TemporalServer } from './temporal.ts';

/**
 * Starts the requested servers in parallel on one home, keeps each running until `stop` is called, and reports to `onStep`.
 * Servers that a killed start left running are stopped first. Throws `HomeInUseError` while another process uses the home, and
 * `ServerStartError` if a server does not become ready (then none is left running).
 */
export async function startEmbedded(input: EmbeddedInput): Promise<EmbeddedServers> {
  const { home } = input;
  const lock = await lockHome(home, new Date());
  try {
    await stopOrphanedServers(home);
    const preferred = await preferredPorts(home);
    const [postgres, temporal, sandbox] = await allOrNone([
      input.postgres ? keepPostgres(input, preferred) : nothing,
      input.temporal ? keepTemporal(input, preferred) : nothing,
      input.sandbox === false ? nothing : keepSandbox(input, input.sandbox, preferred),
    ]);
    await rememberPorts(home, { ...postgres?.ports, ...temporal?.ports, ...sandbox?.ports });
    return {
      ...(postgres && { postgres: postgres.server }),
      ...(temporal && { temporal: temporal.server }),
      ...(sandbox && { sandbox: sandbox.server, sendWebhooksTo: sandbox.sendWebhooksTo }),
      stop: () => inOrder([sandbox?.stop, temporal?.stop, postgres?.stop, lock.release]),
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

export interface EmbeddedInput {
  readonly home: Home;
  readonly postgres: boolean;
  readonly temporal: boolean;
  readonly sandbox: SandboxOptions | false;
  /** The port of Daybook's own HTTP server, which starts last: none of these servers takes it. */
  readonly httpPort: number;
  /** Temporal's namespace; default `default`. */
  readonly namespace?: string;
  readonly onStep: (step: EmbeddedStep) => void;
}

export interface EmbeddedStep {
  readonly server: 'Postgres' | 'Temporal' | 'Sandbox API';
  readonly state: 'starting' | 'ready' | RestartEvent['state'];
  /** The current activity, how a process ended, or an error; may be empty. */
  readonly detail: string;
}

export interface EmbeddedServers {
  readonly postgres?: Pick<PostgresServer, 'url'>;
  readonly temporal?: Pick<TemporalServer, 'address' | 'ui'>;
  readonly sandbox?: RuntimeSandbox;
  /** Makes the sandbox send its webhooks to that address, also after a restart. */
  readonly sendWebhooksTo?: (address: string) => Promise<void>;
  /** Stops all servers, dependent ones first, and releases the home. */
  readonly stop: () => Promise<void>;
}

async function stopOrphanedServers(home: Home): Promise<void> {
  await Promise.all([
    stopOrphanedSandbox(home.sandboxJournal),
    stopOrphanedTemporal(home.temporalDatabase),
    stopOrphanedPostgres(home.postgresData),
  ]);
}

function keepPostgres(input: EmbeddedInput, { postgres }: Ports): Promise<Kept<PostgresServer>> {
  const logFile = join(input.home.logs, 'postgres.log');
  let portBefore = postgres;
  return keep(input, 'Postgres', { postgres }, async ({ postgres: port }) => {
    const server = await startPostgres({
      dataDir: input.home.postgresData,
      port,
      logFile,
      // A program that took the old port may forward traffic to the new one, including logins of clients that know only the old port.
      ownerPassword: port === portBefore ? 'kept' : 'new',
    });
    portBefore = port;
    return server;
  });
}

function keepTemporal(input: EmbeddedInput, { temporal, temporalUi }: Ports): Promise<Kept<TemporalServer>> {
  const options = {
    databaseFile: input.home.temporalDatabase,
    logFile: join(input.home.logs, 'temporal.log'),
    namespace: input.namespace ?? 'default',
    report: (detail: string) => {
      input.onStep({ server: 'Temporal', state: 'starting', detail });
    },
  };
  return keep(input, 'Temporal', { temporal, temporalUi }, (ports) =>
    startTemporal({ ...options, port: ports.temporal, uiPort: ports.temporalUi }),
  );
}

async function keepSandbox(
  input: EmbeddedInput,
  world: SandboxOptions,
  { sandbox, sandboxAdmin }: Ports,
): Promise<Kept<SandboxServer> & { sendWebhooksTo: (address: string) => Promise<void> }> {
  let webhookAddresses: string[] = [];
  const options = {
    ...world,
    ...sandboxCredentials,
    journal: input.home.sandboxJournal,
    logFile: join(input.home.logs, 'sandbox.log'),
  };
  const kept = await keep(input, 'Sandbox API', { sandbox, sandboxAdmin }, (ports) =>
    startSandboxProcess({
      ...options,
      port: ports.sandbox,
      adminPort: ports.sandboxAdmin,
      webhooks: { addresses: webhookAddresses },
    }),
  );
  return {
    ...kept,
    sendWebhooksTo: (address) => {
      webhookAddresses = [address];
      return sendWebhooksTo(kept.server, address);
    },
  };
}

/** Not worth protecting: the sandbox listens on loopback only, and its data is made up. */
const sandboxCredentials = { clientId: 'sandbox-client', clientSecret: 'sandbox-secret' };

async function keep<Name extends keyof Ports, Server extends EmbeddedServer>(
  { onStep, httpPort }: EmbeddedInput,
  server: EmbeddedStep['server'],
  preferred: Pick<Ports, Name>,
  start: (ports: Record<Name, number>) => Promise<Server>,
): Promise<Kept<Server>> {
  onStep({ server, state: 'starting', detail: '' });
  const first = await onFreePorts<Name, Server>(preferred, start, { except: httpPort });
  onStep({ server, state: 'ready', detail: '' });
  const { stop } = keepRunning(first.server, {
    restart: () => onSamePorts(server, first.ports, start),
    report: (event) => {
      onStep({ server, ...event });
    },
  });
  return { ...first, stop };
}

interface Kept<Server> {
  readonly server: Server;
  readonly ports: Partial<Ports>;
  readonly stop: () => Promise<void>;
}

const nothing = Promise.resolve(undefined);

/** Waits for every start. If one fails, stops the others and throws its error. */
async function allOrNone<Servers extends (Kept<unknown> | undefined)[]>(starts: {
  readonly [Index in keyof Servers]: Promise<Servers[Index]>;
}): Promise<Servers> {
  try {
    return await Promise.all(starts);
  } catch (error) {
    for (const start of await Promise.allSettled<Kept<unknown> | undefined>(starts)) {
      if (start.status === 'fulfilled') await start.value?.stop();
    }
    throw error;
  }
}
