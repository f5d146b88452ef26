import { createSandboxAdmin, type SandboxAdmin } from '../../support/sandbox-admin.ts';
import { freePort } from '../../../embedded/free-port.ts';
import { startSandbox, type Sandbox } from '../../../sandbox/start-sandbox.ts';
import { addConnection } from '../../../warehouse/connections/add-connection.ts';
import { startProcesses, type Processes } from '../../day/processes.ts';
import { buildProcessEnvironment } from '../../support/process-environment.ts';
import type { TestServers } from '../../support/own-servers.ts';

export interface FleetOptions {
  readonly connections: number;
  /** The number of records of each connection at the beginning. */
  readonly records: number;
  readonly everyMinutes: number;
  /** The product's budget. The service allows a tenth more. */
  readonly requestsPer10s: number;
  readonly seed: number;
  /** Adds a large company, refuses a tenth of the tokens, slows the API down and kills Postgres. */
  readonly misfortunes: boolean;
}

export interface Fleet extends TestServers {
  readonly names: readonly string[];
  readonly sandbox: Sandbox;
  readonly admin: SandboxAdmin;
  readonly processes: Processes;
}

/** Two workers, and the server that receives webhooks. */
export const processCount = 3;

const platforms = ['QUICKBOOKS', 'XERO', 'NETSUITE'] as const;

/** Whether the list of deletion events includes those of bills. */
export function hasDeletionEvents(name: string): boolean {
  return platformOf(Number(name.slice(3))) === 'QUICKBOOKS';
}

/** Opens companies of the sandbox, each with a schedule, and processes that may be killed. Nothing is loaded yet. */
export async function openFleet(
  servers: TestServers,
  options: FleetOptions,
  report: (progress: string) => void,
): Promise<Fleet> {
  const { connections, requestsPer10s, seed } = options;
  const sandbox = await startSandbox({ seed, records: 100 });
  try {
    const admin = createSandboxAdmin(sandbox.adminUrl);
    await admin.configure({ requestsPer10s: Math.ceil(requestsPer10s * 1.1) });
    const names = Array.from({ length: connections }, (_, n) => `co-${String(n).padStart(5, '0')}`);
    for (let first = 0; first < connections; first += groupSize) {
      const group = names.slice(first, first + groupSize);
      await addCompanies({ ...servers, admin, apiAddress: sandbox.url }, { group, ...options });
      if (first % 1_000 === 0) report(`${first} of ${connections} connections added`);
    }
    const port = await freePort();
    const env = {
      ...buildProcessEnvironment(servers, { sandbox, secretKey }),
      DAYBOOK_API_REQUESTS_PER_10S: String(requestsPer10s),
      DAYBOOK_LOG_LEVEL: 'error',
    };
    const worker = { command: 'worker', ready: /worker is ready/ };
    const serve = { command: 'serve', ready: /Serving at/, env: { DAYBOOK_HTTP_PORT: String(port) } };
    const processes = await startProcesses([worker, worker, serve], { env, cwd: servers.folder });
    await admin.sendWebhooks({ ...webhookFaults, addresses: [`http://127.0.0.1:${port}/webhooks`], seed });
    return { ...servers, names, sandbox, admin, processes };
  } catch (error) {
    await sandbox.close();
    throw error;
  }
}

const groupSize = 100;
const secretKey = Buffer.alloc(32, 'k');

/** Some webhooks get lost, come twice or late, or are forged. */
const webhookFaults = {
  lost: 0.1,
  doubled: 0.1,
  delayed: 0.2,
  delayMs: 60_000,
  forged: 0.05,
  timeFactor: 10,
};

function platformOf(n: number): string {
  return platforms[n % platforms.length] ?? platforms[0];
}

export async function addCompanies(
  { admin, warehouse, apiAddress }: Pick<Fleet, 'admin' | 'warehouse'> & { apiAddress: string },
  { group, records, everyMinutes }: { group: readonly string[]; records: number; everyMinutes: number },
): Promise<void> {
  await admin.execute(
    ...group.map((name) => ({
      kind: 'add-connection' as const,
      name,
      platform: platformOf(Number(name.slice(3))),
      records,
      accessToken: `token-of-${name}`,
    })),
  );
  for (const connectionId of group) {
    await addConnection(warehouse, secretKey, {
      connectionId,
      apiAddress,
      token: `token-of-${connectionId}`,
      expandPlatformData: false,
      syncEvery: everyMinutes * 60_000,
      reconcileEvery: 86_400_000,
    });
  }
}
