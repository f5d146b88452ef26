import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import getPort from 'get-port';
import { startPostgres } from '../embedded/postgres.ts';
import { startTemporal } from '../embedded/temporal.ts';

export interface BenchServers {
  readonly databaseUrl: string;
  readonly postmasterPid: () => Promise<number>;
  readonly temporalAddress: string;
  readonly apiUrl: string;
  readonly secretKey: Buffer;
  /** A worker as users run it. */
  readonly worker: ChildProcess & { readonly pid: number };
  readonly workerUrl: string;
  /** Starts a process that only serves HTTP, on this port. */
  readonly serve: (port: number) => Promise<ChildProcess>;
  readonly stop: () => Promise<void>;
}

/**
 * Starts everything that a sync needs, in a temporary folder: Postgres, Temporal, a worker, and the page server unless another API is
 * given. The client ID and the secret are `bench`.
 */
export async function startBenchServers(
  migrate: (databaseUrl: string) => Promise<void>,
  otherApi?: BenchApi,
): Promise<BenchServers> {
  const folder = await mkdtemp(path.join(tmpdir(), 'daybook-bench-'));
  const dataDir = path.join(folder, 'postgres');
  const postgres = await startPostgres({ dataDir, port: await getPort() });
  const temporal = await startTemporal({
    databaseFile: path.join(folder, 'temporal.db'),
    port: await getPort(),
    uiPort: await getPort(),
    report: () => undefined,
  });
  const api = otherApi ?? (await startPageServer());
  await migrate(postgres.url);
  const secretKey = randomBytes(32);
  const port = await getPort();
  const env = {
    DATABASE_URL: postgres.url,
    TEMPORAL_ADDRESS: temporal.address,
    DAYBOOK_API_URL: api.url,
    DAYBOOK_CLIENT_ID: 'bench',
    DAYBOOK_CLIENT_SECRET: 'bench',
    DAYBOOK_SECRET_KEY: secretKey.toString('base64'),
    DAYBOOK_API_REQUESTS_PER_10S: '1000000',
    DAYBOOK_HTTP_PORT: String(port),
    DAYBOOK_HOME: folder,
  };
  const worker = run(['bin/daybook.js', 'worker'], env);
  await firstLine(worker.stderr);
  return {
    databaseUrl: postgres.url,
    postmasterPid: async () =>
      Number((await import('node:fs')).readFileSync(`${dataDir}/postmaster.pid`, 'utf8').split('\n')[0]),
    temporalAddress: temporal.address,
    apiUrl: api.url,
    secretKey,
    worker,
    workerUrl: `http://127.0.0.1:${port}`,
    serve: async (servePort) => {
      const server = run(['bin/daybook.js', 'serve'], { ...env, DAYBOOK_HTTP_PORT: String(servePort) });
      await firstLine(server.stderr);
      return server;
    },
    stop: async () => {
      worker.kill('SIGTERM');
      await once(worker, 'exit');
      await api.stop();
      await temporal.stop();
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export interface BenchApi {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

async function startPageServer(): Promise<BenchApi> {
  const pages = run(['bench/page-server.ts'], {});
  const url = await firstLine(pages.stdout);
  return {
    url,
    stop: async () => {
      pages.kill('SIGTERM');
      await once(pages, 'exit');
    },
  };
}

type Child = ChildProcess & {
  readonly pid: number;
  stdout: NodeJS.ReadableStream;
  stderr: NodeJS.ReadableStream;
};

const checkout = fileURLToPath(new URL('..', import.meta.url));

function run(args: readonly string[], env: Record<string, string>): Child {
  const child = spawn(process.execPath, ['--import', 'tsx', ...args], {
    cwd: checkout,
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  if (child.pid === undefined) throw new Error(`${args.join(' ')} could not be started.`);
  return child as Child;
}

async function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  const lines = createInterface({ input: stream });
  const [line] = (await once(lines, 'line')) as [string];
  stream.resume();
  return line;
}
