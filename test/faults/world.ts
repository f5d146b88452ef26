import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { freePort } from '../../embedded/free-port.ts';
import { programOfSources } from '../support/daybook-process.ts';
import { pathWithoutPython } from '../support/path-without-python.ts';
import { startCommitServer } from './commit-server.ts';
import { createCommitKiller, type PlannedKill, type CommitKiller } from './commit-killer.ts';
import { expireDeadWorkers } from './expire-dead-workers.ts';
import { superviseProcess } from './supervise-process.ts';
import { killServer } from './kill-server.ts';
import { openServers, type Servers } from './servers.ts';

/**
 * An installation on its own servers, with a worker and an HTTP server, in which processes and servers are killed as they commit. Killed
 * ones are restarted: the servers as the product's supervisor does it.
 */
export async function openWorld(plannedKillsAt: (point: string) => readonly PlannedKill[]): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-faults-'));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const servers = await openServers(folder);
  const port = String(await freePort());
  const commitKiller = createCommitKiller({
    deathsAt: plannedKillsAt,
    kill: async ({ victim }, { pid, ppid }) => {
      if (victim === 'process') {
        const supervised = processes.find((one) => [pid, ppid].includes(one.pid()));
        const back = supervised?.nextReady() ?? Promise.resolve();
        // A child process of the product dies with its parent, as when the machine goes down.
        for (const one of new Set([supervised?.pid() ?? pid, pid])) process.kill(one, 'SIGKILL');
        return { back };
      }
      const back = servers.restarted(victim);
      await killServer(victim, servers.home);
      return { back };
    },
  });
  const commitServer = await startCommitServer(commitKiller.killIfPlanned);
  const env = {
    ...servers.env,
    ...(await pathWithoutPython(servers.cwd)),
    NODE_OPTIONS: `--import ${new URL('./pause-at-commits.mjs', import.meta.url).href}`,
    TEST_COMMIT_SERVER: commitServer.url,
  };
  // Commit points are named after source files, whose names a bundle no longer has.
  const start = { cwd: servers.cwd, env, program: programOfSources };
  const processes = [
    superviseProcess(['worker'], /worker is ready/, start),
    superviseProcess(['serve'], /Serving at/, { ...start, env: { ...env, DAYBOOK_HTTP_PORT: port } }),
  ];
  const expiryTimer = setInterval(() => {
    void expireDeadWorkers(
      servers,
      processes.flatMap((one) => one.dead()),
    );
  }, 500);
  afterAll(async () => {
    clearInterval(expiryTimer);
    await Promise.all(processes.map((one) => one.stop()));
    commitServer.stop();
  });
  await Promise.all(processes.map((one) => one.nextReady()));
  const webhookUrl = `http://127.0.0.1:${port}/webhooks`;
  return { ...servers, ...start, commitKiller, webhookUrl, errorOutputs: [] };
}

export interface World extends Servers {
  /** The `daybook` that processes and commands run. */
  readonly program: string;
  readonly commitKiller: CommitKiller;
  /** The address at which the HTTP server takes webhooks while it runs. */
  readonly webhookUrl: string;
  /** The output of commands on stderr. */
  readonly errorOutputs: string[];
}
