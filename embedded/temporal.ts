import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ensureTemporalCli } from '../scripts/temporal-cli.mjs';
import { searchAttributeNames } from '../temporal/search-attributes.ts';
import type { EmbeddedServer } from './keep-running.ts';
import { prepareNamespace } from './prepare-namespace.ts';
import { startServerProcess, type StopStep } from './server-process.ts';
import { stopOrphans } from './stop-orphans.ts';
import { waitUntilReady } from './wait-until-ready.ts';

/**
 * Starts the Temporal CLI's development server on loopback with a database file, and waits until the namespace answers.
 * If there is no CLI, it is downloaded or built (`report` is told). Throws `ServerStartError` if it does not become ready.
 */
export async function startTemporal(options: TemporalOptions): Promise<TemporalServer> {
  const { databaseFile, port, uiPort, namespace = 'default' } = options;
  const cli = await ensureTemporalCli({ report: options.report });
  await mkdir(dirname(databaseFile), { recursive: true, mode: 0o700 });
  const mark = markerNamespace(databaseFile);
  const server = await startServerProcess({
    name: 'Temporal',
    command: cli,
    args: serverArguments({ databaseFile, port, uiPort, namespaces: [namespace, mark] }),
    logFile: options.logFile ?? `${databaseFile}.log`,
    stopSteps,
  });
  const address = `127.0.0.1:${port}`;
  const probe = () => prepareNamespace(address, { namespace, mark });
  await waitUntilReady(server, { probe, timeoutMs: 60_000 });
  return { address, ui: `http://127.0.0.1:${uiPort}`, exited: server.exited, stop: server.stop };
}

export interface TemporalOptions {
  readonly databaseFile: string;
  readonly port: number;
  readonly uiPort: number;
  /** Created if it is missing; `default` always exists. */
  readonly namespace?: string;
  /** Default `<databaseFile>.log`. */
  readonly logFile?: string;
  /** Called from time to time with the progress of getting the Temporal CLI; not called if it is there. */
  readonly report: (progress: string) => void;
}

export interface TemporalServer extends EmbeddedServer {
  /** host:port of the gRPC API. */
  readonly address: string;
  /** The URL of the Web UI. */
  readonly ui: string;
}

/** Stops the server that a killed start left running on this database file, if there is one. */
export async function stopOrphanedTemporal(databaseFile: string): Promise<void> {
  await stopOrphans({
    isProgram: (path) => !path.includes(' -'), // DAYBOOK_TEMPORAL_CLI may have any name; the marker is specific enough.
    marker: ` server start-dev --db-filename ${databaseFile} `,
    stopSteps,
  });
}

/**
 * Returns the name of an empty namespace that distinguishes this server from another home's. Two homes that start at once may find the same port
 * free. The server that gets it then answers the other home's processes too, which would work on its workflows until their own server ends.
 */
function markerNamespace(databaseFile: string): string {
  const hash = createHash('sha256').update(resolve(databaseFile)).digest('hex');
  return `daybook-home-${hash.slice(0, 12)}`;
}

function serverArguments(input: {
  databaseFile: string;
  port: number;
  uiPort: number;
  namespaces: readonly string[];
}): string[] {
  return [
    'server',
    'start-dev',
    '--db-filename',
    input.databaseFile,
    // WAL with NORMAL loses nothing when a process is killed; a power cut may cost the last moments, which syncs repeat.
    '--sqlite-pragma',
    'journal_mode=WAL',
    '--sqlite-pragma',
    'synchronous=NORMAL',
    '--ip',
    '127.0.0.1',
    '--port',
    String(input.port),
    '--ui-port',
    String(input.uiPort),
    ...input.namespaces.flatMap((name) => ['--namespace', name]),
    '--log-level',
    'warn',
    ...searchAttributeNames.flatMap((name) => ['--search-attribute', `${name}=Keyword`]),
    '--dynamic-config-value',
    'matching.enableFairness=true',
    // Its HTTP API accepts a POST from any web page in a browser on this machine. Nothing here uses the API, so no host name is allowed.
    '--dynamic-config-value',
    'frontend.httpAllowedHosts=["nobody.invalid"]',
  ];
}

const stopSteps: readonly StopStep[] = [
  { signal: 'SIGTERM', timeoutMs: 15_000 },
  { signal: 'SIGKILL', timeoutMs: 10_000 },
];
