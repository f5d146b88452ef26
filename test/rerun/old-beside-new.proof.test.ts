import type { WorkflowHandle } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { startDaybook, type DaybookProcess } from '../support/daybook-process.ts';
import { createInstallation } from '../support/installation.ts';
import { untilPages } from '../support/sync-progress.ts';
import { startReconcile } from '../support/reconcile.ts';
import { startSync } from '../support/sync.ts';
import { appliedInbox, changeBill, readIds, readListeningUrl } from '../webhooks/company.ts';
import { send } from '../webhooks/webhook.ts';
import { releaseBefore, unpackRelease } from './release-before.ts';

const before = releaseBefore();
const name = 'missing' in before ? `(skipped: ${before.missing})` : `of ${before.tag}`;

describe.skipIf('missing' in before)(`a worker ${name} beside one of this checkout`, async () => {
  const installation = await createInstallation();
  const { admin, client, cwd, env } = installation;
  const program = 'tag' in before ? await unpackRelease(before.tag) : '';
  const startNew = (): Promise<DaybookProcess> => installation.startWorker();
  const startOld = async (): Promise<DaybookProcess> => {
    const worker = startDaybook(['worker'], { cwd, env, program });
    await worker.waitForOutput(/worker is ready/);
    return worker;
  };

  test('workflows move from the old worker to the new one and back, and the tables match the source', async () => {
    await admin.configure({ maximumLimit: 5 });
    const connections = await Promise.all([1, 2].map(() => installation.connect()));

    /** Runs one workflow for each connection. Each begins on the existing worker and ends on the one that `start` starts. */
    async function runOnto(
      begin: (connection: string) => Promise<WorkflowHandle>,
      {
        from,
        start,
        how,
      }: { from: DaybookProcess; start: () => Promise<DaybookProcess>; how: NodeJS.Signals },
    ): Promise<DaybookProcess> {
      await admin.addFault({ match: { path: '/accounting' }, fault: { kind: 'slow', ms: 1_000 } });
      const handles = await Promise.all(connections.map(begin));
      for (const connection of connections) await untilPages(installation, { connection, pages: 1 });
      const to = await start();
      await from.stop(how);
      await admin.clearFaults();
      for (const handle of handles) {
        await handle.result();
        expect(await readWorkerPids(handle)).toEqual([from.pid, to.pid]);
      }
      return to;
    }

    const sync = (connection: string): Promise<WorkflowHandle> => startSync(installation, connection);
    const reconcile = (connection: string): Promise<WorkflowHandle> =>
      startReconcile(installation, connection);
    const ours = await runOnto(sync, { from: await startOld(), start: startNew, how: 'SIGKILL' });
    const theirs = await runOnto(reconcile, { from: ours, start: startOld, how: 'SIGTERM' });

    const both = [theirs, await startNew()];
    for (const connection of connections) {
      for (const [index, id] of (await readIds(installation, connection, { count: 4 })).entries()) {
        const webhook = await changeBill(installation, connection, { id, memo: 'told' });
        expect(await send(readListeningUrl(both[index % 2] ?? theirs), webhook)).toBe(200);
      }
      await appliedInbox(installation, connection);
      await client.workflow.getHandle(`webhooks/${connection}`).result();
      expect((await installation.compare(connection)).differences).toEqual([]);
    }
    await theirs.stop();
  });
});

/** Ids of the processes that did a workflow's tasks, in the order of their first task. Fails if a task failed. */
async function readWorkerPids(handle: WorkflowHandle): Promise<number[]> {
  const events = (await handle.fetchHistory()).events ?? [];
  expect(events.flatMap((event) => event.workflowTaskFailedEventAttributes ?? [])).toEqual([]);
  const identities = events.flatMap((event) => event.workflowTaskStartedEventAttributes?.identity ?? []);
  return [...new Set(identities.map((identity) => Number.parseInt(identity)))];
}
