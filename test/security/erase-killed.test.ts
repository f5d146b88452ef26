import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTestLake } from '../lake/create-test-lake.ts';
import { bill, customer } from '../support/finance-records.ts';
import { createInstallation } from '../support/installation.ts';
import { land } from '../support/land.ts';
import { proofTest } from '../support/proof-test.ts';
import { rows } from '../support/rows.ts';

const { connect, run, warehouse, databaseUrl, cwd } = await createInstallation();
const lake = join(cwd, 'home', 'lake');
const { exportNow } = await createTestLake(databaseUrl, { lake });

test('an erasure killed while it removes the old snapshot ends at the next try, and Postgres knows that the snapshot is gone', async () => {
  const connection = await connect();
  const page = [bill('to-erase', { memo: '"planted"' }), bill('stays')];
  await land(warehouse, { connectionId: connection, stream: 'bills', pages: [page] });
  const { snapshotId } = await exportNow();
  const erase = (env: Record<string, string> = {}): ReturnType<typeof run> =>
    run(['erase', connection, 'bills', 'to-erase'], { env });

  await erase(killedBefore('unlink', 'part-00000.parquet$'));
  const left = await readdir(join(lake, 'snapshots'));
  expect(left).toHaveLength(2);
  expect(left).not.toContain(snapshotId);
  expect(await readExistence()).toEqual([false, true]);

  const { code, stderr } = await erase();
  expect([code, stderr]).toEqual([0, expect.anything()]);
  expect(await readdir(join(lake, 'snapshots'))).toHaveLength(1);
  expect(await readExistence()).toEqual([false, true]);
});

test('an erasure after a killed one of another resource with the same ID succeeds and leaves readers a valid snapshot', async () => {
  const connection = await connect();
  await land(warehouse, {
    connectionId: connection,
    stream: 'bills',
    pages: [[bill('12'), bill('stays')]],
  });
  await land(warehouse, {
    connectionId: connection,
    stream: 'customers',
    pages: [[customer('12'), customer('stays')]],
  });
  await exportNow({ force: true });
  await run(['erase', connection, 'bills', '12'], { env: killedBefore('unlink', 'part-00000.parquet$') });
  for (const resource of ['customers', 'bills']) {
    const { code, stderr } = await run(['erase', connection, resource, '12']);
    expect([code, stderr]).toEqual([0, expect.anything()]);
    const pointer = await readFile(join(lake, 'latest.json'), 'utf8');
    const { snapshot_id: named } = JSON.parse(pointer) as { snapshot_id: string };
    expect(await readdir(join(lake, 'snapshots'))).toContain(named);
    expect((await run(['snapshots', 'verify'])).code).toBe(0);
  }
});

proofTest(
  'Postgres knows the manifest of each snapshot after a killed erasure and one of another record',
  async () => {
    const connection = await connect();
    const page = [bill('first', { memo: '"planted"' }), bill('second'), bill('stays')];
    await land(warehouse, { connectionId: connection, stream: 'bills', pages: [page] });
    await exportNow({ force: true });
    const before = (await readdir(join(lake, 'snapshots'))).length;
    await run(['erase', connection, 'bills', 'first'], {
      env: killedBefore('rename', '/\\d{8}T\\d{6}Z-[0-9a-f]{6}$'),
    });
    // The old snapshot, and the one without the first record.
    expect(await readdir(join(lake, 'snapshots'))).toHaveLength(before + 1);
    for (const id of ['second', 'first'])
      expect((await run(['erase', connection, 'bills', id])).code).toBe(0);
    const known = await rows(
      warehouse,
      `select snapshot_id as id from sync.snapshots where removed_at is null and manifest_sha256 <> ''`,
    );
    expect(known.map(({ id }) => id)).toEqual(expect.arrayContaining(await readdir(join(lake, 'snapshots'))));
  },
);

test('a host where an erasure was killed is named by the next one elsewhere, and one where it ended is not', async () => {
  const connection = await connect();
  const page = [bill('to-erase', { memo: '"planted"' }), bill('stays')];
  await land(warehouse, { connectionId: connection, stream: 'bills', pages: [page] });
  await exportNow({ force: true });
  const [killed, ended] = [join(cwd, 'killed'), join(cwd, 'ended')];
  const eraseAt = (home: string, env: Record<string, string> = {}): ReturnType<typeof run> =>
    run(['erase', connection, 'bills', 'to-erase'], {
      env: { DAYBOOK_HOME: home, DAYBOOK_LAKE: lake, ...env },
    });
  await eraseAt(killed, killedBefore('unlink', 'part-00000.parquet$'));
  expect((await eraseAt(ended)).code).toBe(0);
  const { code, stdout } = await eraseAt(join(cwd, 'home'));
  expect(stdout).toContain(`:${killed}, last seen 20`);
  expect(stdout).not.toContain(`:${ended},`);
  expect(code).toBe(0);
});

test('an erasure whose lake does not answer says to run it again, and erases nothing', async () => {
  const connection = await connect();
  await land(warehouse, { connectionId: connection, stream: 'bills', pages: [[bill('stays-for-now')]] });
  const nobody = { AWS_ENDPOINT_URL: 'http://127.0.0.1:9', AWS_REGION: 'eu-1' };
  const { code, stderr } = await run(['erase', connection, 'bills', 'stays-for-now'], {
    env: { DAYBOOK_LAKE: 's3://books', AWS_ACCESS_KEY_ID: 'k', AWS_SECRET_ACCESS_KEY: 's', ...nobody },
  });
  expect(stderr).toContain('The lake s3://books does not answer (');
  expect(stderr).toContain('rerun any command that failed because of this.');
  expect(code).toBe(1);
  expect(await rows(warehouse, `select id from finance.bills where id = 'stays-for-now'`)).toHaveLength(1);
});

/** The environment of a process that is killed with SIGKILL right before that operation on the first file with such a path. */
function killedBefore(operation: string, path: string): Record<string, string> {
  return {
    NODE_OPTIONS: `--import ${new URL('../lake/kill-before.mjs', import.meta.url).href}`,
    TEST_KILL_BEFORE: JSON.stringify({ operation, path }),
  };
}

/** Whether each snapshot is recorded as existing, in the order of publication. */
async function readExistence(): Promise<unknown[]> {
  const noted = await rows(
    warehouse,
    'select removed_at is null as is_there from sync.snapshots order by published_at',
  );
  return noted.map(({ is_there: isThere }) => isThere);
}
