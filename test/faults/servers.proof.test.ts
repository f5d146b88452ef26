import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { mayMount, smallDisk } from '../lake/small-disk.ts';
import { startDaybook, type DaybookProcess } from '../support/daybook-process.ts';
import { untilPages } from '../support/sync-progress.ts';
import { fillDisk } from './fill-disk.ts';
import { serverPids } from './kill-server.ts';
import { lastFaultMessage } from './last-fault-message.ts';
import { prove } from './prove.ts';
import { openServers } from './servers.ts';
import { retryUntilDone } from './retry-until-done.ts';

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
    const { connection, command } = await syncUnderWay();
    const filler = await fillDisk(home.root);
    await command.waitForOutput(/has failed \d+ times|does not answer|cannot be written/);
    await rm(filler);
    await survives({
      connection,
      command,
      fault: 'The disk of DAYBOOK_HOME is full: Postgres and Temporal cannot write',
    });
  },
);

test('a restart of Postgres in the middle of a sync costs time and nothing else', async () => {
  const { connection, command } = await syncUnderWay();
  const [postmaster = 0] = await serverPids('Postgres', home);
  const restarted = servers.restarted('Postgres');
  process.kill(postmaster, 'SIGINT');
  await restarted;
  await survives({ connection, command, fault: 'Postgres is restarted' });
});

test('a minute without Temporal in the middle of a sync costs time and nothing else', async () => {
  const { connection, command } = await syncUnderWay();
  const pids = await serverPids('Temporal', home);
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  await wait(60_000);
  for (const pid of pids) process.kill(pid, 'SIGCONT');
  await survives({ connection, command, fault: 'Temporal is away for a minute' });
});

/** Starts a sync that a person watches, and returns some pages after its beginning. */
async function syncUnderWay(): Promise<{ connection: string; command: DaybookProcess }> {
  const connection = await servers.connect({ records: 100 });
  await admin.configure({ maximumLimit: 5 });
  const match = { connection, path: '/accounting/bills' };
  await admin.addFault({ match, fault: { kind: 'slow', ms: 700 } });
  const command = startDaybook(['sync', connection], { cwd, env });
  await untilPages(servers, { connection, pages: 2 });
  return { connection, command };
}

/** Expects that running the command again completes the sync, and nothing is lost. */
async function survives(input: {
  connection: string;
  command: DaybookProcess;
  fault: string;
}): Promise<void> {
  const { connection, command, fault } = input;
  await admin.clearFaults();
  const { stderr } = await command.ended;
  await retryUntilDone({ env, cwd, errorOutputs: [] }, ['sync', connection]);
  expect((await servers.compare(connection)).differences).toEqual([]);
  await prove({
    fault,
    during: 'a sync',
    survived: 'it goes on when that is over',
    seen: lastFaultMessage([stderr]),
  });
}
