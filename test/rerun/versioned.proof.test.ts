import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { WorkflowHandle } from '@temporalio/client';
import { expect, test } from 'vitest';
import { ensureTemporalCli } from '../../scripts/temporal-cli.mjs';
import { eventually } from '../support/eventually.ts';
import type { DaybookProcess } from '../support/daybook-process.ts';
import { createInstallation } from '../support/installation.ts';
import { startSync } from '../support/sync.ts';

const installation = await createInstallation();
const { admin, env, namespace } = installation;
const temporal = await ensureTemporalCli({ report: () => undefined });
const execute = promisify(execFile);

test('a sync begun on an unversioned worker moves to each version that is set current, and back on a rollback', async () => {
  const connection = await installation.connect({ ready: false });
  let running: DaybookProcess = await installation.startWorker();
  const sync = await startSync(installation, connection);
  await untilTaskBy(sync, undefined);
  for (const buildId of ['next', 'after', 'next']) {
    const worker = await installation.startWorker({
      TEMPORAL_DEPLOYMENT_NAME: 'daybook',
      TEMPORAL_WORKER_BUILD_ID: buildId,
    });
    await setCurrent(buildId);
    await running.stop();
    running = worker;
    await sync.signal('dataReady');
    await untilTaskBy(sync, buildId);
  }
  await admin.execute({ kind: 'make-ready', connection });
  await sync.signal('dataReady');
  expect(await sync.result()).toMatchObject({ status: 'succeeded' });
  expect((await installation.compare(connection)).differences).toEqual([]);
});

/** Sets the current version as docs/operations.md says, once the version has polled for work. */
async function setCurrent(buildId: string): Promise<void> {
  const command = `worker deployment set-current-version --deployment-name daybook --build-id ${buildId} --yes`;
  const where = ['--address', env.TEMPORAL_ADDRESS ?? '', '--namespace', namespace];
  await eventually(() => execute(temporal, [...command.split(' '), ...where]));
}

/** Waits until the newest task of a workflow was done by that version. */
async function untilTaskBy(handle: WorkflowHandle, buildId: string | undefined): Promise<void> {
  await eventually(async () => {
    const { events } = await handle.fetchHistory();
    const newest = events?.findLast((event) => event.workflowTaskCompletedEventAttributes);
    const version = newest?.workflowTaskCompletedEventAttributes?.deploymentVersion?.buildId;
    return newest !== undefined && (version ?? undefined) === buildId ? true : undefined;
  });
}
