import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { freePort } from '../../embedded/free-port.ts';
import { programOfSources } from '../support/daybook-process.ts';
import { pathWithoutPython } from '../support/path-without-python.ts';
import { startArbiter } from './arbiter.ts';
import { createExecutioner, type Death, type Executioner } from './executioner.ts';
import { forgetTheDead } from './forget-the-dead.ts';
import { keepProcess } from './keep-process.ts';
import { killServer } from './kill-server.ts';
import { openServers, type Servers } from './servers.ts';

/**
 * An installation on its own servers, with a worker and an HTTP server, in which processes and servers are killed as they commit. Killed
 * ones are restarted: the servers as the product's supervisor does it.
 */
export async function openWorld(deathsAt: (point: string) => readonly Death[]): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-faults-'));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const servers = await openServers(folder);
  const port = String(await freePort());
  const executioner = createExecutioner({
    deathsAt,
    kill: async ({ victim }, { pid, ppid }) => {
      if (victim === 'process') {
        const kept = processes.find((one) => [pid, ppid].includes(one.pid()));
        const back = kept?.nextReady() ?? Promise.resolve();
        // A child process of the product dies with its parent, as when the machine goes down.
        for (const one of new Set([kept?.pid() ?? pid, pid])) process.kill(one, 'SIGKILL');
        return { back };
      }
      const back = servers.restarted(victim);
      await killServer(victim, servers.home);
      return { back };
    },
  });
  const arbiter = await startArbiter(executioner.decide);
  const env = {
    ...servers.env,
    ...(await pathWithoutPython(servers.cwd)),
    NODE_OPTIONS: `--import ${new URL('./ask-at-commits.mjs', import.meta.url).href}`,
    TEST_ARBITER: arbiter.url,
  };
  // The arbiter needs the names of files, which a bundle no longer has.
  const start = { cwd: servers.cwd, env, program: programOfSources };
  const processes = [
    keepProcess(['worker'], /worker is ready/, start),
    keepProcess(['serve'], /Serving at/, { ...start, env: { ...env, DAYBOOK_HTTP_PORT: port } }),
  ];
  const forgetting = setInterval(() => {
    void forgetTheDead(
      servers,
      processes.flatMap((one) => one.dead()),
    );
  }, 500);
  afterAll(async () => {
    clearInterval(forgetting);
    await Promise.all(processes.map((one) => one.stop()));
    arbiter.stop();
  });
  await Promise.all(processes.map((one) => one.nextReady()));
  const webhookUrl = `http://127.0.0.1:${port}/webhooks`;
  return { ...servers, ...start, executioner, webhookUrl, heard: [] };
}

export interface World extends Servers {
  /** The `daybook` that processes and commands run. */
  readonly program: string;
  readonly executioner: Executioner;
  /** The address at which the HTTP server takes webhooks while it runs. */
  readonly webhookUrl: string;
  /** The output of commands on stderr. */
  readonly heard: string[];
}
