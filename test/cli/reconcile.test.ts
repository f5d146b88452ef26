import { expect, test } from 'vitest';
import type { RunRead } from '../../warehouse/runs/read-run.ts';
import type { SandboxAdmin } from '../support/sandbox-admin.ts';
import { createInstallation } from '../support/installation.ts';

const installation = await createInstallation();
const { admin } = installation;
await installation.startWorker();

test('a reconcile without a difference exits with 0 and reports equal sums for both sides', async () => {
  const connection = await synced();
  const { code, stdout } = await installation.run(['reconcile', connection, '--json']);
  expect(code).toBe(0);
  const { streams } = JSON.parse(stdout) as RunRead;
  const totals = streams.find(({ stream }) => stream === 'bills')?.totals as Proof;
  expect(totals.equal).toBe(true);
  expect(totals.source).toEqual(totals.warehouse);
  expect(totals.source.USD?.total_amount).toMatch(/^\d+\.\d\d$/);
  const runs = await installation.run(['runs', connection, '--limit', '1', '--json']);
  expect((JSON.parse(runs.stdout) as RunRead[])[0]?.streams).toEqual(streams);
  const found = await installation.run(['discrepancies', connection]);
  expect(found).toMatchObject({ code: 0, stdout: 'No reconcile has found a difference.\n' });
});

test('an unannounced deletion is found, applied and listed', async () => {
  const connection = await synced();
  const [gone] = await ids(connection, 'bills', 1);
  await remove(connection, 'bills', [gone ?? '']);
  const { code, stdout } = await installation.run(['reconcile', connection]);
  expect(code).toBe(0);
  expect(stdout).toContain(`Reconcile of ${connection} succeeded`);
  const found = await installation.run(['discrepancies', connection, '--json']);
  expect(JSON.parse(found.stdout)).toMatchObject([
    { resource: 'bills', record_id: gone, kind: 'extra', status: 'repaired', closed_why: 'deleted' },
  ]);
  expect((await installation.compare(connection)).differences).toEqual([]);
});

test('deletions beyond the limit exit with 3 and name --approve-deletes, which then applies them', async () => {
  const connection = await synced({ records: 600 });
  await remove(connection, 'bills', await ids(connection, 'bills', 100));
  const stopped = await installation.run(['reconcile', connection]);
  expect(stopped.code).toBe(3);
  expect(stopped.stdout).toMatch(
    /100 of \d+ bills are gone at the source, and none was deleted.*--approve-deletes/,
  );
  const waiting = await installation.run(['discrepancies', connection]);
  expect(waiting.stdout).toContain('waits for approval');
  const approved = await installation.run(['reconcile', connection, '--approve-deletes', '--json']);
  expect(approved.code).toBe(0);
  const { streams } = JSON.parse(approved.stdout) as RunRead;
  expect(streams.find(({ stream }) => stream === 'bills')?.deleted).toBe(100);
  expect((await installation.compare(connection)).differences).toEqual([]);
});

test('an unknown resource is refused with exit code 2', async () => {
  const { code, stderr } = await installation.run(['reconcile', 'acme', '--resource', 'invoices']);
  expect(code).toBe(2);
  expect(stderr).toContain('There is no resource invoices.');
});

interface Proof {
  equal: boolean;
  source: Record<string, Record<string, string>>;
  warehouse: Record<string, Record<string, string>>;
}

async function synced(options: { records?: number } = {}): Promise<string> {
  const connection = await installation.connect(options);
  expect((await installation.run(['sync', connection])).code).toBe(0);
  return connection;
}

type Resource = Parameters<SandboxAdmin['content']>[1];

async function ids(connection: string, resource: Resource, limit: number): Promise<string[]> {
  const lines = await admin.content(connection, resource, { limit });
  return lines.map((line) => (JSON.parse(line) as { id: string }).id);
}

/** Deletes records at the source without an event. */
async function remove(connection: string, resource: Resource, gone: readonly string[]): Promise<void> {
  await admin.execute(
    ...gone.map((id) => ({ kind: 'delete' as const, connection, resource, id, event: false })),
  );
}
