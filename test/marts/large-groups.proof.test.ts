import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { fillGroups } from '../support/fill-groups.ts';
import { buildEnvironment } from '../dbt/build-environment.ts';
import { createTestLake } from '../lake/create-test-lake.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { testApiAddress } from '../support/test-connection.ts';

const { url, warehouse } = await createTestDatabase();
const lake = await mkdtemp(join(tmpdir(), 'daybook-test-groups-'));
afterAll(() => rm(lake, { recursive: true, force: true }));
const { exportNow } = await createTestLake(url, { lake });
const { home, build } = await buildEnvironment({ databaseUrl: url, lake });

test.each(['postgres', 'lake'] as const)(
  'no model takes over a minute for thousands of records of one number, day, bill, subscription or parent (%s)',
  async (target) => {
    await fillOnce();
    const { code, stderr } = await build(target);
    expect(code, stderr).toBe(0);
    // A model that compares every pair takes minutes.
    const slow = (await secondsOfModels(target)).filter(([, seconds]) => seconds > 60);
    expect(slow).toEqual([]);
  },
);

let filled: Promise<void> | undefined;

async function fillOnce(): Promise<void> {
  filled ??= (async () => {
    await fillGroups(url, { records: 4_000 });
    await warehouse.pool.query('update sync.connections set api_address = $1', [testApiAddress]);
    await exportNow();
  })();
  await filled;
}

async function secondsOfModels(target: string): Promise<[string, number][]> {
  const folder = join(home, 'dbt', target, 'target');
  const names = await readdir(folder, { recursive: true });
  const file = names.find((name) => name.endsWith('run_results.json')) ?? 'missing';
  const { results } = JSON.parse(await readFile(join(folder, file), 'utf8')) as {
    results: { unique_id: string; execution_time: number }[];
  };
  return results.map(({ unique_id, execution_time }) => [unique_id, execution_time]);
}
