import { WorkflowNotFoundError } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import type { ResourceName } from '../../sandbox/world/resources.ts';
import { approvalId, approveDeletesSignal } from '../../workflows/await-approval.ts';
import { eventually } from '../support/eventually.ts';
import { createInstallation } from '../support/installation.ts';
import { discrepanciesOf, reconcile } from '../support/reconcile.ts';
import { row, rows } from '../support/rows.ts';
import { statusesOf, sync } from '../support/sync.ts';

const installation = await createInstallation();
const { warehouse, admin, client } = installation;
await installation.startWorker();

describe('over the delete limit', () => {
  test('nothing is deleted: the run is partial, and its sentence names --approve-deletes', async () => {
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
    const statuses = new Set((await discrepanciesOf(installation, connection)).map(({ status }) => status));
    expect(statuses).toEqual(new Set(['confirmed']));
  });

  test('a question runs in Temporal, says how many records are gone, and waits', async () => {
    const { connection } = await stopped();
    expect(await questionOf(connection)).toBe('RUNNING');
    const handle = client.workflow.getHandle(approvalId(connection));
    const details = await eventually(async () => {
      const { currentDetails } = await handle.query<{ currentDetails?: string }>(
        '__temporal_workflow_metadata',
      );
      return currentDetails;
    });
    expect(details).toMatch(/\| bills \| 60 \|/);
    expect(details).toMatch(/signal `approveDeletes`/);
  });

  test('the signal approveDeletes leads to a reconcile that deletes exactly these', async () => {
    const { connection, gone } = await stopped();
    const before = await heldIds(connection, 'bills');
    await client.workflow.getHandle(approvalId(connection)).signal(approveDeletesSignal);
    const run = await eventually(() => approvedRun(connection));
    expect(run.status).toBe('succeeded');
    expect(await heldIds(connection, 'bills')).toEqual(before.filter((id) => !gone.includes(id)));
    const deleted = await rows(
      warehouse,
      `select id from finance.deleted_records where connection_id = $1 and source = 'reconcile' order by id`,
      [connection],
    );
    expect(deleted.map(({ id }) => id)).toEqual(gone);
    expect(await questionOf(connection)).toBe('COMPLETED');
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  test('--approve-deletes deletes what the stopped reconcile listed, and nothing found since', async () => {
    const { connection, gone } = await stopped();
    const since = await quietlyDelete(connection, 'bills', 55, 60);
    const { run } = await reconcile(installation, connection, { approveDeletes: true });
    expect(run).toMatchObject({
      status: 'partial',
      failure: expect.stringMatching(/^55 of \d+ bills are gone/) as string,
    });
    expect(run.streams.find(({ stream }) => stream === 'bills')).toMatchObject({ deleted: 60 });
    const held = await heldIds(connection, 'bills');
    expect(held.filter((id) => gone.includes(id))).toEqual([]);
    expect(held).toEqual(expect.arrayContaining(since));
    expect(await questionOf(connection)).toBe('RUNNING');
    expect((await reconcile(installation, connection, { approveDeletes: true })).run.status).toBe(
      'succeeded',
    );
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  test('--approve-deletes with nothing listed before asks all the same', async () => {
    const connection = await synced();
    const gone = await quietlyDelete(connection, 'bills', 60);
    const { run } = await reconcile(installation, connection, { approveDeletes: true });
    expect(run.status).toBe('partial');
    expect(await heldIds(connection, 'bills')).toEqual(expect.arrayContaining(gone));
  });

  test('a newer reconcile withdraws the question and decides anew: what came back is kept', async () => {
    const { connection, gone } = await stopped();
    await admin.execute(
      ...gone.map((id) => ({ kind: 'recreate' as const, connection, resource: 'bills' as const, id })),
    );
    const { run } = await reconcile(installation, connection);
    expect(run.status).toBe('succeeded');
    expect(await questionOf(connection)).toBe('CANCELLED');
    const statuses = new Set((await discrepanciesOf(installation, connection)).map(({ status }) => status));
    expect(statuses).toEqual(new Set(['dismissed']));
    await reconcile(installation, connection, { approveDeletes: true });
    expect(await heldIds(connection, 'bills')).toEqual(expect.arrayContaining(gone));
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  test('of one resource the others are reconciled and deleted from all the same', async () => {
    const connection = await synced();
    await quietlyDelete(connection, 'bills', 60);
    const [customer] = await quietlyDelete(connection, 'customers', 1);
    const { run } = await reconcile(installation, connection);
    expect(statusesOf(run)).toMatchObject({ bills: 'partial', customers: 'succeeded', items: 'succeeded' });
    expect(await heldIds(connection, 'customers')).not.toContain(customer);
  });
});

describe('the limit', () => {
  test('never asks about 50 records or fewer, whatever their share', async () => {
    const connection = await synced();
    const all = await heldIds(connection, 'expenses');
    await quietlyDelete(connection, 'expenses', 50);
    const { run } = await reconcile(installation, connection);
    expect(run.status).toBe('succeeded');
    expect(await heldIds(connection, 'expenses')).toHaveLength(all.length - 50);
  });

  test('always asks about all records of a resource, however few', async () => {
    const connection = await synced();
    const all = await heldIds(connection, 'items');
    await quietlyDelete(connection, 'items', all.length);
    const { run } = await reconcile(installation, connection);
    expect(run).toMatchObject({
      status: 'partial',
      failure: expect.stringContaining('--approve-deletes') as string,
    });
    expect(await heldIds(connection, 'items')).toEqual(all);
    await reconcile(installation, connection, { approveDeletes: true });
    expect(await heldIds(connection, 'items')).toEqual([]);
  });

  test('is not asked about when deletions were announced', async () => {
    const connection = await synced();
    const gone = (await heldIds(connection, 'bills')).slice(0, 60);
    await admin.execute(
      ...gone.map((id) => ({ kind: 'delete' as const, connection, resource: 'bills' as const, id })),
    );
    expect((await sync(installation, connection)).run.status).toBe('succeeded');
    expect((await reconcile(installation, connection)).run.status).toBe('succeeded');
    expect(await questionOf(connection)).toBeUndefined();
    expect((await installation.compare(connection)).differences).toEqual([]);
  });
});

test('daybook reconcile exits 3 when it stopped for approval, and 0 once that is given', async () => {
  const connection = await synced();
  await quietlyDelete(connection, 'bills', 60);
  const stoppedCommand = await installation.run(['reconcile', connection]);
  expect(stoppedCommand.code).toBe(3);
  expect(stoppedCommand.stdout).toContain(`daybook reconcile ${connection} --approve-deletes`);
  const listed = await installation.run(['discrepancies', connection, '--json']);
  expect(JSON.parse(listed.stdout)).toHaveLength(60);
  const approved = await installation.run(['reconcile', connection, '--approve-deletes']);
  expect(approved.code).toBe(0);
  expect((await installation.compare(connection)).differences).toEqual([]);
});

async function synced(): Promise<string> {
  const connection = await installation.connect();
  expect((await sync(installation, connection)).run.status).toBe('succeeded');
  return connection;
}

/** A connection whose reconcile has found 60 bills gone, and asked. */
async function stopped(): Promise<{ connection: string; gone: string[] }> {
  const connection = await synced();
  const gone = await quietlyDelete(connection, 'bills', 60);
  const { run, failure } = await reconcile(installation, connection);
  expect(failure).toBeUndefined();
  expect(run.status).toBe('partial');
  return { connection, gone };
}

/** Deletes records at the source without an event, from the `start`-th on. Returns their ids in order. */
async function quietlyDelete(
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

/** State of the question about a connection; undefined when there was none. */
async function questionOf(connection: string): Promise<string | undefined> {
  try {
    const { status } = await client.workflow.getHandle(approvalId(connection)).describe();
    return status.name;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

async function approvedRun(connection: string): Promise<{ status: unknown } | undefined> {
  const [run] = await rows(
    warehouse,
    `select status from sync.runs
     where connection_id = $1 and reason = 'deletions approved' and status <> 'running'`,
    [connection],
  );
  return run && { status: run.status };
}
