import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createCluster, keepOwnerPassword, newPassword } from './create-cluster.ts';
import type { EmbeddedServer } from './keep-running.ts';
import { postgresAccount } from './postgres-account.ts';
import { postgresProgram } from './postgres-program.ts';
import { postgresSettings, temporaryFileLimit } from './postgres-settings.ts';
import { isPostmasterReady } from './postmaster-file.ts';
import { prepareDatabase } from './prepare-database.ts';
import { processTable } from './process-table.ts';
import { readFileIfThere } from './read-file-if-there.ts';
import { startServerProcess, type StopStep } from './server-process.ts';
import { stopOrphans } from './stop-orphans.ts';
import { waitUntilReady } from './wait-until-ready.ts';

/**
 * Starts Postgres on loopback with a data folder that is created if missing, and waits until the database `daybook`
 * accepts connections from the role `daybook`. Throws `ServerStartError` if it does not become ready.
 */
export async function startPostgres(options: PostgresOptions): Promise<PostgresServer> {
  const { dataDir, port } = options;
  const account = await postgresAccount();
  const program = await postgresProgram(account);
  const passwords = await createCluster({ dataDir, initdb: program.initdb, account });
  const owner = options.ownerPassword === 'new' ? newPassword() : passwords.owner;
  const settings = {
    ...postgresSettings,
    temp_file_limit: await temporaryFileLimit(dataDir),
    ...options.settings,
    port: String(port),
  };
  const [command, ...args] = account.wrap([
    program.postgres,
    '-D',
    account.nameOf(dataDir),
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]);
  const server = await startServerProcess({
    name: 'Postgres',
    command,
    args,
    cwd: dataDir,
    logFile: options.logFile ?? `${dataDir}.log`,
    stopSteps,
  });
  const at = `127.0.0.1:${port}`;
  const adminUrl = `postgres://postgres:${passwords.superuser}@${at}/postgres`;
  await waitUntilReady(server, {
    probe: async () =>
      (await isPostmasterReady(dataDir, { pid: server.pid, port }))
        ? prepareDatabase(adminUrl, owner, passwords.owner)
        : undefined,
    timeoutMs: readyTimeoutMs,
  });
  // Stored only now: each start sets the role's password from the stored one, so a start that is killed in between leaves nothing to repair.
  if (owner !== passwords.owner) await keepOwnerPassword(dataDir, owner);
  const url = `postgres://daybook:${owner}@${at}/daybook`;
  return { port, url, adminUrl, exited: server.exited, stop: server.stop };
}

export interface PostgresOptions {
  readonly dataDir: string;
  readonly port: number;
  /** Default `<dataDir>.log`. */
  readonly logFile?: string;
  /** Default `kept`: the password of the last start. */
  readonly ownerPassword?: 'kept' | 'new';
  /** Postgres settings that differ from `postgresSettings`. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface PostgresServer extends EmbeddedServer {
  readonly port: number;
  /** The database `daybook`, as its owner. */
  readonly url: string;
  /** The database `postgres`, as superuser: for tests, and never shown. */
  readonly adminUrl: string;
}

/** Stops the Postgres that a killed start left running on this data folder, if there is one. */
export async function stopOrphanedPostgres(dataDir: string): Promise<void> {
  await stopOrphans({
    // An option before the marker means that the program is another one, which only mentions the folder.
    isProgram: (path) => basename(path) === 'postgres' && !path.includes(' -'),
    marker: ` -D ${dataDir} `,
    stopSteps,
  });
  await removeStalePidFile(dataDir);
}

/**
 * Removes a stale `postmaster.pid`. After a power cut, an unrelated process may have its pid, and Postgres would then refuse to start.
 * The file is kept while any Postgres has that pid, whoever started it.
 */
async function removeStalePidFile(dataDir: string): Promise<void> {
  const pidFile = join(dataDir, 'postmaster.pid');
  const pid = Number.parseInt((await readFileIfThere(pidFile)) ?? '', 10);
  if (Number.isNaN(pid)) return;
  const owner = (await processTable()).find((entry) => entry.pid === pid);
  if (owner?.commandLine.includes('postgres') !== true) await rm(pidFile, { force: true });
}

/** First "fast", which ends sessions and writes a checkpoint; then "immediate", after which the next start recovers. */
const stopSteps: readonly StopStep[] = [
  { signal: 'SIGINT', timeoutMs: 60_000 },
  { signal: 'SIGQUIT', timeoutMs: 10_000 },
  { signal: 'SIGKILL', timeoutMs: 10_000 },
];

/** After a crash during an initial sync, up to 4 GB of WAL are replayed before the first connection. */
const readyTimeoutMs = 300_000;
