import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { mayMount, smallDisk } from '../lake/small-disk.ts';
import { startDaybook, type DaybookProcess } from '../support/daybook-process.ts';
import { untilPages } from '../support/progress-of.ts';
import { fillDisk } from './fill-disk.ts';
import { serverPids } from './kill-server.ts';
import { lastWords } from './last-words.ts';
import { prove } from './prove.ts';
import { openServers } from './servers.ts';
import { typeUntilDone } from './user.ts';

vi.setConfig({ testTimeout: 400_000 });

if (!mayMount) process.stderr.write('A full disk is not tested: only root on Linux may mount a small one.\n');

const servers = await openServers(
  mayMount ? await smallDisk(700) : await mkdtemp(join(tmpdir(), 'daybook-')),
);
const { admin, home, env, cwd } = servers;
await servers.startWorker();

test.skipIf(!mayMount)(
  'a full disk under Postgres, Temporal and DAYBOOK_HOME costs a sync time and nothing else',
  async () => {
    const { connection, typed } = await syncUnderWay();
    const ballast = await fillDisk(home.root);
    await typed.says(/has failed \d+ times|does not answer|cannot be written/);
    await rm(ballast);
    await survives({
      connection,
      typed,
      fault: 'The disk of DAYBOOK_HOME is full: Postgres and Temporal cannot write',
    });
  },
);

test('a restart of Postgres in the middle of a sync costs time and nothing else', async () => {
  const { connection, typed } = await syncUnderWay();
  const [postmaster = 0] = await serverPids('Postgres', home);
  const restarted = servers.restarted('Postgres');
  process.kill(postmaster, 'SIGINT');
  await restarted;
  await survives({ connection, typed, fault: 'Postgres is restarted' });
});

test('a minute without Temporal in the middle of a sync costs time and nothing else', async () => {
  const { connection, typed } = await syncUnderWay();
  const pids = await serverPids('Temporal', home);
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  await pass(60_000);
  for (const pid of pids) process.kill(pid, 'SIGCONT');
  await survives({ connection, typed, fault: 'Temporal is away for a minute' });
});

/** Starts a sync that a person watches, and returns some pages after its beginning. */
async function syncUnderWay(): Promise<{ connection: string; typed: DaybookProcess }> {
  const connection = await servers.connect({ records: 100 });
  await admin.configure({ maximumLimit: 5 });
  const match = { connection, path: '/accounting/bills' };
  await admin.addFault({ match, fault: { kind: 'slow', ms: 700 } });
  const typed = startDaybook(['sync', connection], { cwd, env });
  await untilPages(servers, { connection, pages: 2 });
  return { connection, typed };
}

/** Expects that typing the command again completes the sync, and nothing is lost. */
async function survives(input: { connection: string; typed: DaybookProcess; fault: string }): Promise<void> {
  const { connection, typed, fault } = input;
  await admin.clearFaults();
  const { stderr } = await typed.ended;
  await typeUntilDone({ env, cwd, heard: [] }, ['sync', connection]);
  expect((await servers.compare(connection)).differences).toEqual([]);
  await prove({
    fault,
    during: 'a sync',
    survived: 'it goes on when that is over',
    seen: lastWords([stderr]),
  });
}
