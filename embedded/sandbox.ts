import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { EmbeddedServer } from './keep-running.ts';
import type { RuntimeSandbox } from './runtime-file.ts';
import { startServerProcess, type StopStep } from './server-process.ts';
import { stopOrphans } from './stop-orphans.ts';
import { waitUntilReady } from './wait-until-ready.ts';

/** Starts the sandbox API as a separate process and waits for its addresses. It ends when this process ends. */
export async function startSandboxProcess(options: SandboxProcessOptions): Promise<SandboxServer> {
  const { logFile, journal, ...sandboxOptions } = options;
  const server = await startServerProcess({
    name: 'The sandbox API',
    command: process.execPath,
    args: [...sandboxProgram(), JSON.stringify({ journal, ...sandboxOptions, exitWithParent: true })],
    logFile,
    stopSteps,
    tiedToParent: true,
  });
  const announced = firstLine(server.stdout);
  const line = await waitUntilReady(server, {
    probe: () => Promise.race([announced, server.exited.then(() => undefined)]),
    timeoutMs: 60_000,
  });
  const { clientId, clientSecret } = options;
  return {
    ...(JSON.parse(line) as Pick<RuntimeSandbox, 'url' | 'adminUrl' | 'connections'>),
    clientId,
    clientSecret,
    exited: server.exited,
    stop: server.stop,
  };
}

export interface SandboxProcessOptions extends SandboxOptions {
  readonly port: number;
  readonly adminPort: number;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly webhooks: { readonly addresses: readonly string[] };
  /** The file of changes to its records, with which a restarted sandbox continues with the same content. */
  readonly journal: string;
  readonly logFile: string;
}

/** Stops the sandbox that a killed start left running on this journal, if it has not ended by itself yet. */
export async function stopOrphanedSandbox(journal: string): Promise<void> {
  await stopOrphans({
    isProgram: (path) => /\/sandbox\/main\.[jt]s$/.test(path),
    marker: ` {"journal":${JSON.stringify(journal)},`,
    stopSteps,
  });
}

/** The properties of the sandbox world; the sandbox has its own defaults. */
export interface SandboxOptions {
  readonly seed?: number;
  readonly records?: number;
  /** The day of the first sync; an existing world keeps its own. */
  readonly asOf?: string;
  /** Name of a fault profile. */
  readonly chaos?: string;
  /** Hosts to which webhooks may be sent in addition to loopback, as URLs write them. */
  readonly webhookHosts?: readonly string[];
}

export interface SandboxServer extends EmbeddedServer, RuntimeSandbox {}

/** In a checkout the sandbox is TypeScript, which a loader compiles; in a release it is JavaScript next to this file. */
function sandboxProgram(): string[] {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const main = fileURLToPath(new URL(`../sandbox/main.${extension}`, import.meta.url));
  if (extension === 'js') return [main];
  return ['--import', new URL('../scripts/load-typescript.mjs', import.meta.url).href, main];
}

async function firstLine(stdout: Readable | null): Promise<string | undefined> {
  if (stdout === null) return undefined;
  const lines = createInterface({ input: stdout });
  const line = await new Promise<string | undefined>((resolve) => {
    lines.once('line', resolve);
    lines.once('close', () => {
      resolve(undefined);
    });
  });
  stdout.resume(); // Later output must not fill the pipe and block the process.
  return line;
}

const stopSteps: readonly StopStep[] = [
  { signal: 'SIGTERM', timeoutMs: 5000 },
  { signal: 'SIGKILL', timeoutMs: 10_000 },
];
