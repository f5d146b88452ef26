import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MartsPointer } from '../../marts/publish-on-lake.ts';
import { createTestLake } from '../lake/create-test-lake.ts';
import { bill } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { proofTest } from '../support/proof-test.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { buildEnvironment } from './build-environment.ts';
import { martOnLake } from './marts-of.ts';

const { warehouse, url } = await createTestDatabase();
const lake = await mkdtemp(join(tmpdir(), 'daybook-test-on-lake-'));
afterAll(() => rm(lake, { recursive: true, force: true }));
const { exportNow } = await createTestLake(url, { lake });
const { home, build, startBuild } = await buildEnvironment({ databaseUrl: url, lake });
const workFolder = join(home, 'dbt', 'lake');
let connectionId: string;

beforeAll(async () => {
  connectionId = await addTestConnection(warehouse);
  await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b')]] });
  await exportNow();
});

test('a build without Python builds nothing, and says in one sentence what to install', async () => {
  const { code, stdout, stderr } = await build('lake', { PATH: join(home, 'nothing-is-here') });
  expect(stderr.trim()).toBe(
    'The marts need Python 3.10 or newer, and there is no python3 on PATH: install it, then run "daybook dbt build" again.',
  );
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
});

proofTest(
  'a build killed while dbt runs publishes nothing, and the next one cleans up after it',
  async () => {
    const building = startBuild('lake');
    const ours = join(workFolder, 'scratch', 'marts.duckdb');
    while (!existsSync(ours)) await wait(50);
    await building.stop('SIGKILL');
    expect(existsSync(join(lake, 'latest-marts.json'))).toBe(false);
    await rebuild();
    expect(await readdir(workFolder)).not.toContain('scratch');
    expect(await filesThatDiffer()).toEqual([]);
  },
);

proofTest(
  'another build on the same snapshot leaves readers whole marts at every moment, killed or not',
  async () => {
    await writeFile(
      join(home, 'seeds', 'vendor_names.csv'),
      `connection_id,vendor_id,vendor_name\n${connectionId},vendor-1,Paper & Sons\n`,
    );
    const building = startBuild('lake');
    await building.waitForOutput(/put into the lake/);
    await building.stop('SIGKILL');
    expect(await filesThatDiffer()).toEqual([]);
    let isOver = false;
    const differing = lookUntil(() => isOver);
    await rebuild();
    isOver = true;
    expect(await differing).toEqual([]);
    const [vendor] = (await martOnLake(lake, 'vendors')).filter((one) => one.vendor_id === 'vendor-1');
    expect(vendor).toMatchObject({ vendor_name: 'Paper & Sons', is_inferred: 'false' });
    expect(await filesBeside()).toEqual([]);
  },
);

async function rebuild(): Promise<void> {
  const { code, stderr } = await build('lake');
  expect(code, stderr).toBe(0);
}

async function pointer(): Promise<MartsPointer> {
  return JSON.parse(await readFile(join(lake, 'latest-marts.json'), 'utf8')) as MartsPointer;
}

/** Files named by the pointer whose content does not match it. */
async function filesThatDiffer(): Promise<string[]> {
  const named = Object.values((await pointer()).marts);
  const differing = await Promise.all(
    named.map(async ({ path, sha256 }) => {
      const content = await readFile(join(lake, path)).catch(() => '');
      return createHash('sha256').update(content).digest('hex') === sha256 ? [] : [path];
    }),
  );
  return differing.flat();
}

/** Looks again and again as a reader does, and returns the files that differ. If the pointer was replaced meanwhile, it takes the new one. */
async function lookUntil(isOver: () => boolean): Promise<string[]> {
  const seen: string[] = [];
  while (!isOver()) {
    const before = await pointer();
    const differing = await filesThatDiffer();
    if (JSON.stringify(await pointer()) === JSON.stringify(before)) seen.push(...differing);
    await wait(20);
  }
  return seen;
}

/** Mart files that no pointer names. */
async function filesBeside(): Promise<string[]> {
  const { snapshot_id, marts } = await pointer();
  const folder = join(lake, 'marts', snapshot_id);
  const named = Object.values(marts).map(({ path }) => path);
  const files = await readdir(folder, { recursive: true });
  return files.filter((file) => file.includes('/') && !named.includes(join('marts', snapshot_id, file)));
}
