import { WorkflowNotFoundError } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import type { ResourceName } from '../../sandbox/api/resources.ts';
import { workflowIds } from '../../temporal/workflow-ids.ts';
import { approveDeletesSignal, approveUpdate } from '../../workflows/await-approval.ts';
import { eventually } from '../support/eventually.ts';
import { createInstallation } from '../support/installation.ts';
import { blockWrites, waitingSessions } from '../support/blocked-session.ts';
import { proofDescribe, proofTest } from '../support/proof-test.ts';
import {
  approve,
  readFoundDiscrepancies,
  awaitReconcile,
  reconcile,
  shownDeletions,
  startReconcile,
} from '../support/reconcile.ts';
import { resetTo } from '../support/reset.ts';
import { row, rows } from '../support/rows.ts';
import { statusesOf, sync } from '../support/sync.ts';

const installation = await createInstallation({ commandsInOneProcess: true });
const { warehouse, admin, client, databaseUrl } = installation;
let worker = await installation.startWorker();

describe('a reconcile that exceeds the delete limit', () => {
  proofTest('deletes nothing, is partial, and names --approve-deletes in its message', async () => {
    const { connection, gone } = await stopped();
    const held = await heldIds(connection, 'bills');
    expect(held).toEqual(expect.arrayContaining(gone));
    expect(
      await rows(warehouse, 'select from sync.tombstones where connection_id = $1', [connection]),
    ).toEqual([]);
    const { run } = await lastReconcile(connection);
    expect(run).toMatchObject({
      status: 'partial',
      failure: `60 of ${held.length} bills are gone at the source, and none was deleted. If that is right, approve it: "daybook reconcile ${connection} --approve-deletes".`,
    });
    const statuses = new Set(
      (await readFoundDiscrepancies(installation, connection)).map(({ status }) => status),
    );
    expect(statuses).toEqual(new Set(['confirmed']));
  });

  proofTest(
    'starts an approval workflow in Temporal that waits and shows the number of missing records',
    async () => {
      const { connection } = await stopped();
      expect(await readQuestionStatus(connection)).toBe('RUNNING');
      const details = await readDetails(connection);
      expect(details).toMatch(/\| bills \| 60 \|/);
      expect(details).toMatch(/signal `approveDeletes`/);
    },
  );

  test('is followed, on the signal approveDeletes, by a reconcile that deletes exactly these records', async () => {
    const { connection, gone } = await stopped();
    const before = await heldIds(connection, 'bills');
    await client.workflow.getHandle(workflowIds.approval(connection)).signal(approveDeletesSignal);
    const run = await eventually(() => approvedRun(connection));
    expect(run.status).toBe('succeeded');
    expect(await heldIds(connection, 'bills')).toEqual(before.filter((id) => !gone.includes(id)));
    const deleted = await rows(
      warehouse,
      `select id from finance.deleted_records where connection_id = $1 and source = 'reconcile' order by id`,
      [connection],
    );
    expect(deleted.map(({ id }) => id)).toEqual(gone);
    await untilQuestionIs(connection, 'COMPLETED');
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  test('accepts one approve update, which returns what was approved and stores the approver in the ledger', async () => {
    const { connection, gone } = await stopped();
    const asked = client.workflow.getHandle(workflowIds.approval(connection));
    const answer = await asked.executeUpdate(approveUpdate, { args: [{ by: 'Ada of finance' }] });
    expect(answer).toEqual({
      approved: { bills: { records: gone.length, run: expect.any(String) as string } },
      by: 'Ada of finance',
    });
    const run = await eventually(() => approvedRun(connection));
    expect(run).toMatchObject({ status: 'succeeded', reason: 'deletions approved by Ada of finance' });
    await expect(asked.executeUpdate(approveUpdate, { args: [{}] })).rejects.toThrow();
  });

  proofTest(
    'is followed, with --approve-deletes, by the deletion of what it listed and nothing found later',
    async () => {
      const { connection, gone } = await stopped();
      const since = await deleteWithoutEvent(connection, 'bills', 55, 60);
      const { run } = await approve(installation, connection);
      expect(run).toMatchObject({
        status: 'partial',
        failure: expect.stringMatching(/^55 of \d+ bills are gone/) as string,
      });
      expect(run.streams.find(({ stream }) => stream === 'bills')).toMatchObject({ deleted: 60 });
      const held = await heldIds(connection, 'bills');
      expect(held.filter((id) => gone.includes(id))).toEqual([]);
      expect(held).toEqual(expect.arrayContaining(since));
      await untilQuestionSays(connection, /\| bills \| 55 \|/);
      expect((await approve(installation, connection)).run.status).toBe('succeeded');
      expect((await installation.compare(connection)).differences).toEqual([]);
    },
  );

  proofTest('asks for approval even with --approve-deletes if nothing was listed before', async () => {
    const connection = await synced();
    const gone = await deleteWithoutEvent(connection, 'bills', 60);
    const { run } = await approve(installation, connection);
    expect(run.status).toBe('partial');
    expect(await heldIds(connection, 'bills')).toEqual(expect.arrayContaining(gone));
  });

  proofTest(
    'has its request withdrawn by a newer reconcile, which keeps records that came back',
    async () => {
      const { connection, gone } = await stopped();
      const before = await shownDeletions(installation, connection);
      await admin.execute(
        ...gone.map((id) => ({ kind: 'recreate' as const, connection, resource: 'bills' as const, id })),
      );
      const { run } = await reconcile(installation, connection);
      expect(run.status).toBe('succeeded');
      await untilQuestionIs(connection, 'CANCELLED');
      const statuses = new Set(
        (await readFoundDiscrepancies(installation, connection)).map(({ status }) => status),
      );
      expect(statuses).toEqual(new Set(['dismissed']));
      await reconcile(installation, connection, { approved: before });
      expect(await heldIds(connection, 'bills')).toEqual(expect.arrayContaining(gone));
      expect((await installation.compare(connection)).differences).toEqual([]);
    },
  );

  proofTest('for one resource still reconciles and deletes from the others', async () => {
    const connection = await synced();
    await deleteWithoutEvent(connection, 'bills', 60);
    const [customer] = await deleteWithoutEvent(connection, 'customers', 1);
    const { run } = await reconcile(installation, connection);
    expect(statusesOf(run)).toMatchObject({ bills: 'partial', customers: 'succeeded', items: 'succeeded' });
    expect(await heldIds(connection, 'customers')).not.toContain(customer);
  });
});

describe('the delete limit', () => {
  proofTest('never applies to 50 or fewer records, whatever their share', async () => {
    const connection = await synced();
    const all = await heldIds(connection, 'expenses');
    await deleteWithoutEvent(connection, 'expenses', 50);
    const { run } = await reconcile(installation, connection);
    expect(run.status).toBe('succeeded');
    expect(await heldIds(connection, 'expenses')).toHaveLength(all.length - 50);
  });

  test('always applies to all records of a resource, however few', async () => {
    const connection = await synced();
    const all = await heldIds(connection, 'items');
    await deleteWithoutEvent(connection, 'items', all.length);
    const { run } = await reconcile(installation, connection);
    expect(run).toMatchObject({
      status: 'partial',
      failure: expect.stringContaining('--approve-deletes') as string,
    });
    expect(await heldIds(connection, 'items')).toEqual(all);
    await approve(installation, connection);
    expect(await heldIds(connection, 'items')).toEqual([]);
  });

  proofTest('does not apply to announced deletions', async () => {
    const connection = await synced();
    const gone = (await heldIds(connection, 'bills')).slice(0, 60);
    await admin.execute(
      ...gone.map((id) => ({ kind: 'delete' as const, connection, resource: 'bills' as const, id })),
    );
    expect((await sync(installation, connection)).run.status).toBe('succeeded');
    expect((await reconcile(installation, connection)).run.status).toBe('succeeded');
    expect(await readQuestionStatus(connection)).toBeUndefined();
    expect((await installation.compare(connection)).differences).toEqual([]);
  });
});

describe('an approval names what was shown, and deletes nothing when something else waits', () => {
  test('a stale approval is refused with a message about what waits now, and a new approval is requested', async () => {
    const { connection, shown, waiting } = await overtaken();
    const { run, failure } = await reconcile(installation, connection, { approved: shown });
    expect(failure).toMatchObject({ cause: { type: 'ApprovalOutdated' } });
    expect(run.status).toBe('failed');
    expect(run.failure).toMatch(
      /^What is waiting now is not what was approved: 115 bills wait, found gone by the reconcile \S+ \(approved were 60, found by \S+\)\. Nothing was deleted\..*--approve-deletes"\.$/,
    );
    await expectNothingDeleted(connection, waiting);
    await untilQuestionSays(connection, /\| bills \| 115 \|/);
  });

  proofTest(
    'a replaced approval request takes no signal, and the new one shows which run found what',
    async () => {
      const { connection, question, waiting } = await overtaken();
      await untilQuestionSays(connection, /\| bills \| 115 \|/);
      await expect(
        client.workflow.getHandle(workflowIds.approval(connection), question).signal(approveDeletesSignal),
      ).rejects.toThrow(WorkflowNotFoundError);
      await expectNothingDeleted(connection, waiting);
      const { bills } = await shownDeletions(installation, connection);
      expect(await readDetails(connection)).toContain(`| bills | 115 | ${bills?.run} |`);
    },
  );

  proofTest('a reset of an old approved reconcile deletes nothing that it did not name', async () => {
    const { connection } = await stopped();
    expect((await installation.run(['reconcile', connection, '--approve-deletes'])).code).toBe(0);
    const handle = client.workflow.getHandle(`reconcile/${connection}`);
    const approved = client.workflow.getHandle(handle.workflowId, (await handle.describe()).runId);
    const since = await deleteWithoutEvent(connection, 'bills', 70);
    expect((await reconcile(installation, connection)).run.status).toBe('partial');
    const again = await resetTo(installation, approved, 0);
    const { run } = await awaitReconcile(installation, again, again.temporalRunId);
    expect(run).toMatchObject({
      status: 'failed',
      failure: expect.stringContaining('What is waiting now is not what was approved') as string,
    });
    expect(await heldIds(connection, 'bills')).toEqual(expect.arrayContaining(since));
    await untilQuestionSays(connection, /\| bills \| 70 \|/);
  });

  proofTest(
    'an approval in the format of 0.5.0, which does not name what was shown, deletes nothing',
    async () => {
      const { connection, gone } = await stopped();
      const { run } = await reconcile(installation, connection, { approveDeletes: true });
      expect(run).toMatchObject({
        status: 'failed',
        failure: expect.stringContaining('the approval did not name any') as string,
      });
      await expectNothingDeleted(connection, gone);
    },
  );

  proofTest.each([
    ['as many as wait is carried out', 60, 'succeeded', 0],
    ['another number is refused', 59, 'failed', 60],
  ])('an approval request started by 0.5.0 that shows %s', async (_, count, status, left) => {
    const { connection, gone } = await stopped();
    const workflowId = workflowIds.approval(connection);
    await client.workflow.getHandle(workflowId).terminate();
    const args = [{ connection, waiting: { bills: count } }];
    const asked = await client.workflow.start('awaitApproval', { workflowId, taskQueue: 'daybook', args });
    await asked.signal(approveDeletesSignal);
    expect(await eventually(() => approvedRun(connection))).toEqual({ status, reason: 'deletions approved' });
    const held = await heldIds(connection, 'bills');
    expect(held.filter((id) => gone.includes(id))).toHaveLength(left);
  });

  proofTest(
    'simultaneous approvals from the Web UI and the command delete what was shown and nothing more',
    async () => {
      const { connection, gone } = await stopped();
      const before = await heldIds(connection, 'bills');
      const question = client.workflow.getHandle(workflowIds.approval(connection));
      const [, , command] = await Promise.all([
        question.signal(approveDeletesSignal),
        question.signal(approveDeletesSignal),
        installation.run(['reconcile', connection, '--approve-deletes']),
      ]);
      // One of them starts the reconcile. The other comes while it runs, or after it.
      expect([0, 1], command.stderr).toContain(command.code);
      if (command.code === 1) expect(command.stderr).toContain('so nothing was approved');
      expect((await eventually(() => approvedRun(connection))).status).toBe('succeeded');
      expect(await heldIds(connection, 'bills')).toEqual(before.filter((id) => !gone.includes(id)));
      expect((await installation.compare(connection)).differences).toEqual([]);
    },
  );

  proofTest('an approval given during a running reconcile is not lost', async () => {
    const { connection, gone } = await stopped();
    await admin.addFault({
      match: { connection, path: '/accounting/items' },
      fault: { kind: 'slow', ms: 60_000 },
    });
    const handle = await startReconcile(installation, connection, { resources: ['items'] });
    const command = await installation.run(['reconcile', connection, '--approve-deletes']);
    expect(command.code).toBe(1);
    expect(command.stderr).toContain(`A reconcile of ${connection} is running, so nothing was approved.`);
    await client.workflow.getHandle(workflowIds.approval(connection)).signal(approveDeletesSignal);
    await expectNothingDeleted(connection, gone);
    await admin.clearFaults();
    await handle.cancel();
    expect((await eventually(() => approvedRun(connection), 60)).status).toBe('succeeded');
    expect((await installation.compare(connection, { tables: ['bills'] })).differences).toEqual([]);
  });

  proofTest(
    'a reconcile whose worker is killed during the deletions completes the approved ones',
    async () => {
      const { connection, gone } = await stopped();
      const before = await heldIds(connection, 'bills');
      const blocked = await blockWrites(databaseUrl, 'sync.tombstones');
      const approved = await shownDeletions(installation, connection);
      const handle = await startReconcile(installation, connection, { approved });
      await waitingSessions(databaseUrl);
      await worker.stop('SIGKILL');
      await blocked.letGo();
      worker = await installation.startWorker();
      const { run } = await awaitReconcile(installation, handle, handle.firstExecutionRunId);
      expect(run.status).toBe('succeeded');
      expect(await heldIds(connection, 'bills')).toEqual(before.filter((id) => !gone.includes(id)));
    },
  );
});

proofDescribe('a reconcile of other resources', () => {
  test('neither withdraws an approval request nor dismisses what waits', async () => {
    const { connection, gone } = await stopped();
    const before = await questionRun(connection);
    const shown = await shownDeletions(installation, connection);
    expect((await reconcile(installation, connection, { resources: ['customers'] })).run.status).toBe(
      'succeeded',
    );
    expect(await questionRun(connection)).toBe(before);
    expect(await readQuestionStatus(connection)).toBe('RUNNING');
    expect(await shownDeletions(installation, connection)).toEqual(shown);
    await client.workflow.getHandle(workflowIds.approval(connection)).signal(approveDeletesSignal);
    expect((await eventually(() => approvedRun(connection))).status).toBe('succeeded');
    const held = await heldIds(connection, 'bills');
    expect(held.filter((id) => gone.includes(id))).toEqual([]);
  });

  test('that exceeds the limit too shares one approval request, and one signal approves both', async () => {
    const { connection } = await stopped();
    const items = await heldIds(connection, 'items');
    await deleteWithoutEvent(connection, 'items', items.length);
    expect((await reconcile(installation, connection, { resources: ['items'] })).run.status).toBe('partial');
    await untilQuestionSays(
      connection,
      new RegExp(`\\| bills \\| 60 \\|[^]*\\| items \\| ${items.length} \\|`),
    );
    await client.workflow.getHandle(workflowIds.approval(connection)).signal(approveDeletesSignal);
    expect((await eventually(() => approvedRun(connection))).status).toBe('succeeded');
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  test('keeps its approval request when one of its resources fails', async () => {
    const connection = await synced();
    await deleteWithoutEvent(connection, 'bills', 60);
    await admin.addFault({
      match: { connection, path: '/accounting/customers' },
      fault: { kind: 'status', status: 403 },
    });
    const { failure } = await reconcile(installation, connection);
    await admin.clearFaults();
    expect(failure).toBeDefined();
    await untilQuestionSays(connection, /\| bills \| 60 \|/);
  });

  test('drops an approved resource that cannot be listed afterward from the approval request', async () => {
    const { connection } = await stopped();
    const approved = await shownDeletions(installation, connection);
    const items = await heldIds(connection, 'items');
    await deleteWithoutEvent(connection, 'items', items.length);
    await admin.addFault({
      match: { connection, path: '/accounting/bills' },
      fault: { kind: 'status', status: 403 },
    });
    await reconcile(installation, connection, { approved });
    await admin.clearFaults();
    await untilQuestionSays(connection, new RegExp(`\\| items \\| ${items.length} \\|`));
    expect(await readDetails(connection)).not.toContain('| bills |');
  });
});

proofTest(
  'daybook reconcile exits 3 when approval is needed, and 0 with --approve-deletes, and prints what is approved',
  async () => {
    const connection = await synced();
    await deleteWithoutEvent(connection, 'bills', 60);
    const stoppedCommand = await installation.run(['reconcile', connection]);
    expect(stoppedCommand.code).toBe(3);
    expect(stoppedCommand.stdout).toContain(`daybook reconcile ${connection} --approve-deletes`);
    const listed = await installation.run(['discrepancies', connection, '--json']);
    expect(JSON.parse(listed.stdout)).toHaveLength(60);
    const { bills } = await shownDeletions(installation, connection);
    const approved = await installation.run(['reconcile', connection, '--approve-deletes']);
    expect(approved.stderr).toContain(
      `Approved: to delete 60 bills that the reconcile ${bills?.run} found gone.`,
    );
    expect(approved.code).toBe(0);
    expect((await installation.compare(connection)).differences).toEqual([]);
  },
);

proofTest(
  'daybook reconcile --approve-deletes approves nothing for a resource that it does not reconcile',
  async () => {
    const { connection, gone } = await stopped();
    const command = ['reconcile', connection, '--resource', 'items', '--approve-deletes'];
    expect(await installation.run(command)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`No deletions of ${connection} wait for approval.`) as string,
    });
    await expectNothingDeleted(connection, gone);
    expect(await readQuestionStatus(connection)).toBe('RUNNING');
  },
);

async function synced(): Promise<string> {
  const connection = await installation.connect();
  expect((await sync(installation, connection)).run.status).toBe('succeeded');
  return connection;
}

/** A connection whose reconcile has found 60 bills gone, and asked for approval. */
async function stopped(): Promise<{ connection: string; gone: string[] }> {
  const connection = await synced();
  const gone = await deleteWithoutEvent(connection, 'bills', 60);
  const { run, failure } = await reconcile(installation, connection);
  expect(failure).toBeUndefined();
  expect(run.status).toBe('partial');
  return { connection, gone };
}

/** The deletions shown for a stopped reconcile, and those that wait after a later one has found more. */
async function overtaken(): Promise<{
  connection: string;
  shown: Awaited<ReturnType<typeof shownDeletions>>;
  question: string;
  waiting: string[];
}> {
  const { connection, gone } = await stopped();
  const shown = await shownDeletions(installation, connection);
  const question = await questionRun(connection);
  const since = await deleteWithoutEvent(connection, 'bills', 55, 60);
  expect((await reconcile(installation, connection)).run.status).toBe('partial');
  return { connection, shown, question, waiting: [...gone, ...since] };
}

async function expectNothingDeleted(connection: string, waiting: readonly string[]): Promise<void> {
  expect(await heldIds(connection, 'bills')).toEqual(expect.arrayContaining([...waiting]));
}

/** Deletes records at the source without an event, beginning with number `start`. Returns their ids in order. */
async function deleteWithoutEvent(
  connection: string,
  resource: ResourceName,
  count: number,
  start = 0,
): Promise<string[]> {
  const ids = (await heldIds(connection, resource)).slice(start, start + count);
  expect(ids).toHaveLength(count);
  await admin.execute(
    ...ids.map((id) => ({ kind: 'delete' as const, connection, resource, id, event: false })),
  );
  return ids;
}

async function heldIds(connection: string, resource: ResourceName): Promise<string[]> {
  const held = await rows(
    warehouse,
    `select id from finance.${resource} where connection_id = $1 order by id`,
    [connection],
  );
  return held.map(({ id }) => String(id));
}

async function lastReconcile(connection: string): Promise<{ run: Record<string, unknown> }> {
  const run = await row(
    warehouse,
    `select status, failure from sync.runs where connection_id = $1 and kind = 'reconcile'`,
    [connection],
  );
  return { run };
}

/** The status of the question about a connection. Undefined if there was none. */
async function readQuestionStatus(connection: string): Promise<string | undefined> {
  try {
    const { status } = await client.workflow.getHandle(workflowIds.approval(connection)).describe();
    return status.name;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

function untilQuestionIs(connection: string, state: string): Promise<true> {
  return eventually(async () => ((await readQuestionStatus(connection)) === state ? true : undefined));
}

async function questionRun(connection: string): Promise<string> {
  return (await client.workflow.getHandle(workflowIds.approval(connection)).describe()).runId;
}

/** The text of the question in the Web UI. */
function readDetails(connection: string): Promise<string> {
  return eventually(async () => {
    const { currentDetails } = await client.workflow
      .getHandle(workflowIds.approval(connection))
      .query<{ currentDetails?: string }>('__temporal_workflow_metadata');
    return currentDetails;
  });
}

/** Waits until an open question has this text. */
async function untilQuestionSays(connection: string, words: RegExp): Promise<void> {
  await eventually(async () => {
    expect(await readQuestionStatus(connection)).toBe('RUNNING');
    expect(await readDetails(connection)).toMatch(words);
    return true;
  });
}

/** The newest reconcile that a question has started, once it is over. */
async function approvedRun(connection: string): Promise<{ status: unknown; reason: unknown } | undefined> {
  const [run] = await rows(
    warehouse,
    `select status, reason from sync.runs
     where connection_id = $1 and reason like 'deletions approved%' and status <> 'running'`,
    [connection],
  );
  return run && { status: run.status, reason: run.reason };
}
