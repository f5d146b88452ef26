import { startSandbox, type Sandbox } from '../../sandbox/start-sandbox.ts';
import { addConnection } from '../../warehouse/connections/add-connection.ts';
import { freePort } from '../../embedded/free-port.ts';
import { buildProcessEnvironment } from '../support/process-environment.ts';
import type { TestServers } from '../support/own-servers.ts';
import { createSandboxAdmin, type SandboxAdmin } from '../support/sandbox-admin.ts';
import { startProcesses, type ProcessPlan, type Processes } from './processes.ts';

export interface DayEnvironment extends TestServers {
  readonly sandbox: Sandbox;
  readonly admin: SandboxAdmin;
  readonly processes: Processes;
  /** The configuration of a Daybook process. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * The first has deletion events for most resources. The second has no subscriptions, and events for everything else. Deletions of the third
 * leave no event.
 */
export const connections = ['acme-us', 'acme-eu', 'acme-uk'] as const;

const worker: ProcessPlan = { command: 'worker', ready: /worker is ready/ };

/** Two workers, and the server that receives webhooks. */
export const processCount = 3;

/** Less than the service allows, so that the budget has to delay some requests. */
export const requestsPer10s = 200;

/** Opens the warehouse with the connections of the sandbox, their webhooks, and processes that may be killed. */
export async function openDayEnvironment(
  servers: TestServers,
  { seed, records }: { seed: number; records: number },
): Promise<DayEnvironment> {
  const sandbox = await startSandbox({ seed, records });
  try {
    const secretKey = Buffer.alloc(32, 'k');
    for (const connectionId of connections) {
      await addConnection(servers.warehouse, secretKey, {
        connectionId,
        apiAddress: sandbox.url,
        token: `sandbox-token-${connectionId}`,
        expandPlatformData: false,
      });
    }
    const env = {
      ...buildProcessEnvironment(servers, { sandbox, secretKey }),
      DAYBOOK_API_REQUESTS_PER_10S: String(requestsPer10s),
      // The day lasts minutes, so ten-minute limits become seconds. Otherwise nothing would ever be given up or left out.
      DAYBOOK_LOOKBACK: '10s',
      DAYBOOK_GIVE_UP_AFTER: '15s',
      DAYBOOK_LOG_LEVEL: 'error',
    };
    const port = await freePort();
    const serve = { command: 'serve', ready: /Serving at/, env: { DAYBOOK_HTTP_PORT: String(port) } };
    const processes = await startProcesses([worker, worker, serve], { env, cwd: servers.folder });
    const admin = createSandboxAdmin(sandbox.adminUrl);
    await admin.sendWebhooks({ ...webhookFaults, addresses: [`http://127.0.0.1:${port}/webhooks`], seed });
    return { ...servers, sandbox, admin, processes, env };
  } catch (error) {
    await sandbox.close();
    throw error;
  }
}

/** Some webhooks get lost, come twice or late, or are forged. A minute of attempts takes a second. */
const webhookFaults = {
  lost: 0.1,
  doubled: 0.1,
  delayed: 0.2,
  delayMs: 240_000,
  forged: 0.05,
  touched: 0.5,
  timeFactor: 60,
};
