import { expect, test } from 'vitest';
import { createInstallation } from '../support/installation.ts';
import { proofTest } from '../support/proof-test.ts';
import { row, rows, type Row } from '../support/rows.ts';

const installation = await createInstallation();
const { admin, warehouse } = installation;
await installation.startWorker();

test('data kept by remove --keep-data stays with its company: another company under that name is refused', async () => {
  const [name, other] = [await installation.connect(), await installation.connect()];
  expect((await sync(name)).code).toBe(0);
  const deleted = await deleteBill(name);
  expect((await sync(name)).code).toBe(0);
  const before = await contentOf(name);
  const { org_id: org } = await row(
    warehouse,
    'select org_id from sync.connections where connection_id = $1',
    [name],
  );

  const removed = await connection('remove', name, '--keep-data');
  expect([removed.code, removed.stderr]).toEqual([0, '']);
  expect(removed.stdout).toBe(
    `Removed ${name}; its records, their history and deletions are kept. They belong to organization ${String(org)} (QUICKBOOKS); no other company can be added as ${name}.\n` +
      `Delete them with: npx daybook connection remove ${name}\n`,
  );
  const again = await connection('remove', name, '--keep-data');
  expect(again.code).toBe(0);
  expect(again.stdout).toContain(
    `${name} was removed before; its records, their history and deletions are kept.`,
  );
  expect(await contentOf(name)).toEqual(before);
  expect(await deletedOf(name)).toEqual([{ id: deleted }]);
  for (const command of [['connection', 'list'], ['status']]) {
    const { stdout } = await installation.run(command);
    expect(stdout).toMatch(
      new RegExp(`The records of ${name} \\(organization ${String(org)} .*, removed at .*, are kept`),
    );
  }
  const { stdout: status } = await installation.run(['status', '--json']);
  expect(JSON.parse(status)).toMatchObject({ kept_data: [{ connection_id: name, org_id: org }] });

  const added = await add(name, other);
  expect(added.code).toBe(0);
  expect(added.stdout).toContain(
    `It takes over the kept records of organization ${String(org)} (QUICKBOOKS); a token for another company is rejected.`,
  );
  const refused = await sync(name);
  expect(refused.code).toBe(1);
  expect(refused.stdout + refused.stderr).toContain(
    `The access token of ${name} now opens a different company`,
  );
  expect(await contentOf(name)).toEqual(before);
  expect(await deletedOf(name)).toEqual([{ id: deleted }]);

  await installation.run(['connection', 'set-token', name, '--token-stdin'], { input: `token-of-${name}` });
  expect((await sync(name)).code).toBe(0);
  expect((await installation.compare(name)).differences).toEqual([]);
  expect(await deletedOf(name)).toEqual([{ id: deleted }]);
  const reconciled = await installation.run(['reconcile', name]);
  expect([reconciled.code, reconciled.stderr]).toEqual([0, expect.anything()]);
  expect((await installation.compare(name)).differences).toEqual([]);
});

proofTest(
  'kept data blocks its name under another API address, with the remedy, and a second remove frees the name',
  async () => {
    const name = await installation.connect();
    await sync(name);
    await connection('remove', name, '--keep-data');
    const elsewhere = await installation.run(['connection', 'add', name, '--token-stdin', '--no-schedule'], {
      // If Temporal were reachable, its namespace would already belong to another API address.
      input: 'a-token',
      env: { DAYBOOK_API_URL: 'http://127.0.0.1:9', TEMPORAL_ADDRESS: '127.0.0.1:9' },
    });
    expect([elsewhere.code, elsewhere.stdout]).toEqual([1, '']);
    expect(elsewhere.stderr).toMatch(
      new RegExp(
        `^Records of ${name} are kept .* Pick another name, or delete them with "daybook connection remove ${name}" first\\.\n$`,
      ),
    );
    const removed = await connection('remove', name);
    expect([removed.code, removed.stdout]).toEqual([0, `Deleted the kept records of ${name}.\n`]);
    expect(await contentOf(name)).toEqual([]);
    expect((await connection('remove', name)).stderr).toContain(`There is no connection ${name}.`);
    expect((await connection('list')).stdout).not.toContain(name);
    expect((await add(name, name)).stdout).not.toContain('kept');
  },
);

async function deleteBill(name: string): Promise<string> {
  const [bill] = await admin.content(name, 'bills');
  const { id } = JSON.parse(bill ?? '') as { id: string };
  await admin.execute({ kind: 'delete', connection: name, resource: 'bills', id, event: true });
  return id;
}

function contentOf(name: string): Promise<Row[]> {
  return rows(warehouse, 'select * from finance.bills where connection_id = $1 order by id', [name]);
}

function deletedOf(name: string): Promise<Row[]> {
  return rows(warehouse, 'select id from finance.deleted_records where connection_id = $1', [name]);
}

function add(name: string, company: string): ReturnType<typeof installation.run> {
  return installation.run(['connection', 'add', name, '--token-stdin', '--no-schedule'], {
    input: `token-of-${company}`,
  });
}

function sync(name: string): ReturnType<typeof installation.run> {
  return installation.run(['sync', name]);
}

function connection(...args: string[]): ReturnType<typeof installation.run> {
  return installation.run(['connection', ...args]);
}
