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
 * Starts Postgres on loopback, on a data folder that is made when it is missing, and waits until the database `daybook`
 * of the role `daybook` takes connections. Throws `ServerStartError` when it does not come up.
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
  // Only now: each start gives the role what is kept, so a start that is killed in between leaves nothing to repair.
  if (owner !== passwords.owner) await keepOwnerPassword(dataDir, owner);
  const url = `postgres://daybook:${owner}@${at}/daybook`;
  return { port, url, adminUrl, exited: server.exited, stop: server.stop };
}

export interface PostgresOptions {
  readonly dataDir: string;
  readonly port: number;
  /** Default `<dataDir>.log`. */
  readonly logFile?: string;
  /** Default `kept`: that of the last start. */
  readonly ownerPassword?: 'kept' | 'new';
  /** Postgres settings that differ from `postgresSettings`. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface PostgresServer extends EmbeddedServer {
  readonly port: number;
  /** Database `daybook` as its owner. */
  readonly url: string;
  /** Database `postgres` as superuser: for tests, and shown to nobody. */
  readonly adminUrl: string;
}

/** Stops the Postgres that a killed start left running on this data folder, if there is one. */
export async function stopOrphanedPostgres(dataDir: string): Promise<void> {
  await stopOrphans({
    // Options before the marker belong to another program that only mentions the folder.
    isProgram: (path) => basename(path) === 'postgres' && !path.includes(' -'),
    marker: ` -D ${dataDir} `,
    stopSteps,
  });
  await removeStalePidFile(dataDir);
}

/**
 * After a power cut, an unrelated process may have the pid in `postmaster.pid`, and Postgres would refuse to start for fear
 * of it. The file stays as long as any Postgres has that pid, whoever started it.
 */
async function removeStalePidFile(dataDir: string): Promise<void> {
  const pidFile = join(dataDir, 'postmaster.pid');
  const pid = Number.parseInt((await readFileIfThere(pidFile)) ?? '', 10);
  if (Number.isNaN(pid)) return;
  const owner = (await processTable()).find((entry) => entry.pid === pid);
  if (owner?.commandLine.includes('postgres') !== true) await rm(pidFile, { force: true });
}

/** "Fast" first, which ends sessions and writes a checkpoint; then "immediate", which the next start recovers from. */
const stopSteps: readonly StopStep[] = [
  { signal: 'SIGINT', timeoutMs: 60_000 },
  { signal: 'SIGQUIT', timeoutMs: 10_000 },
  { signal: 'SIGKILL', timeoutMs: 10_000 },
];

/** After a crash in the middle of an initial sync, up to 4 GB of WAL are replayed before the first connection. */
const readyTimeoutMs = 300_000;
