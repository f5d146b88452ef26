import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createTestLake } from '../lake/create-test-lake.ts';
import { expense, text } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { proofTest, some } from '../support/proof-test.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { buildEnvironment } from './build-environment.ts';
import { martInPostgres, martOnLake } from './marts-of.ts';

// Each test builds all marts twice.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

const { warehouse, url } = await createTestDatabase();
const lake = await mkdtemp(join(tmpdir(), 'daybook-test-seeds-'));
afterAll(() => rm(lake, { recursive: true, force: true }));
const { exportNow } = await createTestLake(url, { lake });
const { home, build } = await buildEnvironment({ databaseUrl: url, lake });
const targets = ['postgres', 'lake'] as const;

/** Some look like no value to a careless reader of CSV, some look alike, and some look like the end of a line or a field. */
const ids = ['null', 'NULL', ' null ', ' ', 'a\rb', 'a\nb', '"', `'a','`];

/** A vendor name longer than a spreadsheet cell can hold. */
const longName = 'x'.repeat(140_000);

/** Seeds are loaded 10,000 rows at a time. */
const more = Array.from({ length: 10_000 }, (_, index) => ['null', `more${index}`, 'Another']);

beforeAll(async () => {
  const connectionId = await addTestConnection(warehouse, 'null');
  const records = ids.map((id, index) =>
    expense(`e${index}`, { vendor_id: JSON.stringify(id), account_id: JSON.stringify(id) }),
  );
  const platformData = `{"EntityRef": {"name": ${text(longName)}, "type": "Vendor"}}`;
  records.push(expense('long', { vendor_id: '"long"', platform_data: platformData }));
  await warehouse.pool.query(`update sync.connections set expand_platform_data = true`);
  await land(warehouse, { connectionId, stream: 'expenses', pages: [records] });
  await exportNow();
  // Empty files, as releases before 0.6 left them on a full disk.
  await mkdir(join(home, 'seeds'), { recursive: true });
  for (const file of [join(home, 'host-id'), seedFile('account_map')]) await writeFile(file, '');
});

test.each(some(targets))(
  'a template saved with names works as a seed, whatever IDs vendors and accounts have: %s',
  async (target) => {
    await built(target);
    const vendors = await rowsOfTemplate('vendor_names');
    expect(vendors.find(([, id]) => id === 'long')?.[2]).toHaveLength(1_000);
    // The template also lists the names saved for the previous target.
    const added = new Set(['long', ...more.map(([, id]) => id)]);
    const others = vendors.filter(([, id]) => !added.has(id));
    await saveNamed('vendor_names', [...others, ...more, ['null', 'long', `${longName}y`]]);
    await saveNamed('account_map', await rowsOfTemplate('account_map'));
    await built(target);
    const expected = Object.fromEntries(ids.map((id) => [id, nameOf(id)]));
    expect(await knownNames(target, { mart: 'vendors', id: 'vendor_id' })).toEqual({
      ...expected,
      '(none)': null,
      long: '140,001 characters',
    });
    expect(await knownNames(target, { mart: 'accounts', id: 'account_id' })).toMatchObject(expected);
  },
);

proofTest.each(targets)(
  'a date that databases read in two ways fails the build, and is named: %s',
  async (target) => {
    await writeFile(seedFile('fx_rates'), `${rateHeader}EUR,USD,2026-10-05,1.1\nEUR,USD,05/10/2026,1.2\n`);
    const { code, stderr } = await build(target);
    await writeFile(seedFile('fx_rates'), rateHeader);
    expect(code).toBe(1);
    expect(stderr).toContain("fx_rates.csv, line 3: valid_from is '05/10/2026', which is no day.");
  },
);

const rateHeader = 'from_currency,to_currency,valid_from,rate\n';

function nameOf(id: string): string {
  return `Named ${ids.indexOf(id)}`;
}

async function built(target: Target): Promise<void> {
  const { code, stderr } = await build(target);
  expect(code, stderr).toBe(0);
}

function seedFile(seed: string): string {
  return join(home, 'seeds', `${seed}.csv`);
}

async function rowsOfTemplate(seed: string): Promise<string[][]> {
  const template = await readFile(join(home, 'seeds', `${seed}.template.csv`), 'utf8');
  const rows: string[][] = [[]];
  for (const [, cell = '', end] of template.matchAll(/("(?:[^"]|"")*"|[^",\n]*)(,|\n)/g)) {
    rows.at(-1)?.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    if (end === '\n') rows.push([]);
  }
  return rows.slice(0, -1);
}

/** Saves a template with every missing name filled in, as a person would. */
async function saveNamed(seed: string, template: readonly string[][]): Promise<void> {
  const named = template.map(([connection = '', id = '', name = '', ...more]) => [
    connection,
    id,
    name === '' ? nameOf(id) : name,
    ...more,
  ]);
  await writeFile(seedFile(seed), csvOf(named));
}

function csvOf(rows: readonly (readonly string[])[]): string {
  const cell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return rows.map((row) => `${row.map(cell).join(',')}\n`).join('');
}

async function knownNames(
  target: Target,
  { mart, id }: { mart: string; id: string },
): Promise<Record<string, string | null>> {
  const rows = target === 'postgres' ? await martInPostgres(warehouse, mart) : await martOnLake(lake, mart);
  const shown = (name: string | null): string | null =>
    (name?.length ?? 0) > 1_000 ? `${name?.length.toLocaleString('en-US') ?? ''} characters` : name;
  return Object.fromEntries(rows.map((row) => [row[id] ?? '', shown(row.known_name ?? null)]));
}

type Target = (typeof targets)[number];
