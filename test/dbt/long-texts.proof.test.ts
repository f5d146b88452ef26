import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resources } from '../../resources/index.ts';
import type { Column } from '../../resources/resource.ts';
import { createTestLake } from '../lake/create-test-lake.ts';
import { connectionWithEverything } from '../support/connection-with-everything.ts';
import { bill } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { some } from '../support/proof-test.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { buildEnvironment } from './build-environment.ts';
import { martInPostgres, martNames, martOnLake, type MartRow } from './marts-of.ts';

const { warehouse, url } = await createTestDatabase();
const lake = await mkdtemp(join(tmpdir(), 'daybook-test-long-texts-'));
afterAll(() => rm(lake, { recursive: true, force: true }));
const { exportNow } = await createTestLake(url, { lake });
const { build } = await buildEnvironment({ databaseUrl: url, lake });

const longestText = 4_000;

beforeAll(async () => {
  const longEverywhere = await connectionWithEverything(warehouse);
  for (const { name, columns, children } of resources) {
    await lengthen(name, columns, longEverywhere);
    for (const child of children) await lengthen(child.table, child.columns, longEverywhere);
  }
  const long = await addTestConnection(warehouse);
  const bills = Array.from({ length: 300 }, (_, nth) => bill(`b${nth}`));
  await land(warehouse, { connectionId: long, stream: 'bills', pages: [bills] });
  // Postgres would spend seconds on compressing the made-up text.
  await rows(warehouse, 'alter table finance.bills alter column memo set storage external');
  await rows(
    warehouse,
    `update finance.bills set memo = repeat('0123456789', 100000) where connection_id = $1`,
    [long],
  );
  await exportNow();
});

test.each(some(['lake', 'postgres'] as const))(
  'marts are built from texts of any length, and hold the beginning of each (%s)',
  async (target) => {
    const { code, stderr } = await build(target);
    expect(code, stderr).toBe(0);
    const longest = new Map<string, number>();
    for (const mart of await martNames()) longest.set(mart, lengthOfLongest(await read(target, mart)));
    expect([...longest].filter(([, length]) => length > longestText)).toEqual([]);
    expect(longest.get('bills')).toBe(longestText);
    expect(longest.get('items')).toBe(longestText);
  },
);

/** Lengthens every text column that may land at any length. */
async function lengthen(table: string, columns: readonly Column[], connectionId: string): Promise<void> {
  const long = columns.filter(
    ({ kind, name }) => kind === 'text' || kind === 'code' || (kind === 'id' && name === 'platform_id'),
  );
  if (long.length === 0) return;
  const set = long.map(({ name }) => `${name} = repeat('😀', 5000)`).join(', ');
  await rows(warehouse, `update finance.${table} set ${set} where connection_id = $1`, [connectionId]);
}

function read(target: 'lake' | 'postgres', mart: string): Promise<MartRow[]> {
  return target === 'lake' ? martOnLake(lake, mart) : martInPostgres(warehouse, mart);
}

function lengthOfLongest(found: readonly MartRow[]): number {
  const lengths = found.flatMap((row) => Object.values(row).map((text) => Array.from(text ?? '').length));
  return lengths.reduce((longest, length) => Math.max(longest, length), 0);
}
