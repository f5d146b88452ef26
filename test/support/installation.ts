import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { afterAll } from 'vitest';
import { startSandbox, type Sandbox } from '../../sandbox/start-sandbox.ts';
import { addConnection } from '../../warehouse/connections/add-connection.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { commandHost } from './command-host.ts';
import { compareWithSource, type Comparison } from './compare-with-source.ts';
import { buildProcessEnvironment } from './process-environment.ts';
import { runDaybook, startDaybook, type DaybookProcess, type Ended } from './daybook-process.ts';
import { isProof } from './proof-test.ts';
import { createSandboxAdmin, type SandboxAdmin } from './sandbox-admin.ts';
import { createTestDatabase } from './test-database.ts';
import { createTestNamespace } from './temporal-namespace.ts';

/**
 * Creates a Daybook for the test file that calls this at its top, with a database, a Temporal namespace and a sandbox of its own. Workers
 * and commands are the real ones, in processes of their own.
 */
export async function createInstallation(options: InstallationOptions = {}): Promise<Installation> {
  const database = options.database ?? (await createTestDatabase());
  const temporal = await createTestNamespace(options.temporalAddress);
  const cwd = await mkdtemp(join(tmpdir(), 'daybook-test-home-'));
  const sandbox = await startSandbox({
    records: 100,
    clientSecret,
    ...(options.chaos === undefined ? {} : { chaos: options.chaos }),
  });
  const admin = createSandboxAdmin(sandbox.adminUrl);
  const env = {
    ...buildProcessEnvironment(
      {
        databaseUrl: database.url,
        temporalAddress: temporal.address,
        namespace: temporal.namespace,
        folder: join(cwd, 'home'),
      },
      { sandbox, secretKey, clientSecret },
    ),
    ...options.env,
  };
  const workers: DaybookProcess[] = [];
  const host = options.commandsInOneProcess === true && !isProof ? commandHost({ cwd }) : undefined;
  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.stop()));
    await sandbox.close();
    await rm(cwd, { recursive: true, force: true });
  });
  return {
    databaseUrl: database.url,
    warehouse: database.warehouse,
    client: temporal.client,
    sandbox,
    admin,
    namespace: temporal.namespace,
    env,
    cwd,
    run(args, { input, env: more } = {}) {
      const line = { env: { ...env, ...more }, ...(input === undefined ? {} : { input }) };
      // Options of Node, such as one that kills it at some point, take effect only in a process that starts.
      return host === undefined || host.isBusy() || more?.NODE_OPTIONS !== undefined
        ? runDaybook(args, { cwd, ...line })
        : host.run({ args, ...line });
    },
    async startWorker(more = {}) {
      const worker = startDaybook(['worker'], { cwd, env: { ...env, ...more } });
      workers.push(worker);
      await worker.waitForOutput(/worker is ready/);
      return worker;
    },
    async connect({
      name = `co-${randomBytes(4).toString('hex')}`,
      platform = 'QUICKBOOKS',
      records = 300,
      token,
      ...rest
    } = {}) {
      const accessToken = `token-of-${name}`;
      await admin.execute({ kind: 'add-connection', name, platform, records, accessToken, ...rest });
      await addConnection(database.warehouse, secretKey, {
        connectionId: name,
        apiAddress: sandbox.url,
        token: token ?? accessToken,
        expandPlatformData: false,
      });
      return name;
    },
    compare: (connectionId, more = {}) =>
      compareWithSource({ databaseUrl: database.url, admin, connectionId, ...more }),
  };
}

export const secretKey: Buffer = Buffer.alloc(32, 'k');
/** A secret that tests look for in places where it must not be. */
export const clientSecret = 'planted-client-secret';

interface InstallationOptions {
  readonly chaos?: 'none' | 'flaky' | 'nasty' | 'future';
  readonly env?: Readonly<Record<string, string>>;
  /** A migrated database on a Postgres server of the test's own. */
  readonly database?: { readonly url: string; readonly warehouse: Warehouse };
  /**
   * In `npm test`, commands that run to their end share a process, one after the other. For files that do not test how a command starts,
   * ends or is interrupted as a process.
   */
  readonly commandsInOneProcess?: boolean;
  /** The address of a Temporal server other than the test run's. */
  readonly temporalAddress?: string;
}

export interface Installation {
  readonly databaseUrl: string;
  readonly warehouse: Warehouse;
  readonly client: Client;
  readonly namespace: string;
  readonly sandbox: Sandbox;
  readonly admin: SandboxAdmin;
  /** The configuration of a process of this installation. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Runs a command of the CLI to its end. */
  readonly run: (
    args: readonly string[],
    more?: { input?: string; env?: Readonly<Record<string, string>> },
  ) => Promise<Ended>;
  /** Starts a worker process, and stops it after the last test of the file. */
  readonly startWorker: (env?: Readonly<Record<string, string>>) => Promise<DaybookProcess>;
  /** Makes a company in the sandbox and a connection to it, under the same name. Returns the name. */
  readonly connect: (input?: {
    /** Determines what is in the books. Default: a new name each time. */
    name?: string;
    platform?: string;
    records?: number;
    ready?: boolean;
    /** A token other than the right one. */
    token?: string;
  }) => Promise<string>;
  readonly compare: (
    connectionId: string,
    more?: { tables?: readonly string[]; sourceConnection?: string },
  ) => Promise<Comparison>;
}
