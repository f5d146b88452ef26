import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { makeSnapshot } from '../../activities/export/make-snapshot.ts';
import { snapshotId } from '../../lake/snapshot-id.ts';
import { buildOnLake } from '../../marts/build-on-lake.ts';
import { buildOnPostgres } from '../../marts/build-on-postgres.ts';
import { todayIn } from '../../marts/today-in.ts';
import { startSandbox } from '../../sandbox/start-sandbox.ts';
import { withBuildLock } from '../../warehouse/marts/build-lock.ts';
import { openWarehouse, type Warehouse } from '../../warehouse/open-warehouse.ts';
import { martInPostgres, martOnLake } from '../dbt/marts-of.ts';
import { rows } from '../support/rows.ts';
import { createSandboxAdmin } from '../support/sandbox-admin.ts';
import { testApiAddress } from '../support/test-connection.ts';
import { arbitraryBook, type RandomBook } from './arbitrary-book.ts';
import { calculate } from './calculate.ts';
import { compareMart, keysOf, type MartsCompared } from './compare-marts.ts';
import { keepBook, type BookTold } from './keep-books.ts';

export interface BooksChecked extends MartsCompared {
  readonly books: number;
  /** Documents that the sandbox held in the end. */
  readonly documents: number;
  readonly today: string;
  readonly told: readonly BookTold[];
}

/**
 * Keeps random books side by side, each a connection of its own, builds the marts of all of them once on both targets, and
 * compares every figure with the calculator's. `databaseUrl`: a migrated database that nobody has used.
 */
export async function checkBooks(input: {
  databaseUrl: string;
  seed: number;
  books: number;
  /** Bills of each; half as many expenses, and so on. */
  documents: number;
  onStep?: (step: string) => void;
  /** Sees the marts before they go away. */
  look?: (warehouse: Warehouse, told: readonly BookTold[]) => Promise<void>;
}): Promise<BooksChecked> {
  const { databaseUrl, seed, onStep = () => undefined } = input;
  const folder = await mkdtemp(join(tmpdir(), 'daybook-books-'));
  const warehouse = openWarehouse({ url: databaseUrl, connections: 6 });
  const sandbox = await startSandbox({ records: 100 });
  try {
    const { now, timeZone } = momentOf(seed);
    const today = todayIn(timeZone, new Date(now));
    const books = booksOf({ ...input, today });
    onStep('books are being kept');
    const told: BookTold[] = [];
    const admin = createSandboxAdmin(sandbox.adminUrl);
    for (const book of books) told.push(await keepBook({ admin, warehouse }, { book, today }));
    onStep('marts are being built');
    const lake = join(folder, 'lake');
    await writeSeeds(join(folder, 'seeds'), books);
    await buildBoth({ databaseUrl, folder, lake, today });
    onStep('figures are being compared');
    const calculated = await calculate({ now, time_zone: timeZone, fx_rates: fxRates, books: told });
    const compared: MartsCompared = { rows: 0, figures: 0, differences: [], byBook: new Map() };
    for (const name of Object.keys(keysOf)) {
      const types = await typesOf(warehouse, name);
      compareMart(compared, 'Postgres', { name, types, rows: await martInPostgres(warehouse, name) }, calculated);
      compareMart(compared, 'lake', { name, types, rows: await martOnLake(lake, name) }, calculated);
    }
    await input.look?.(warehouse, told);
    const documents = told.flatMap(({ records }) => Object.values(records)).reduce((sum, { length }) => sum + length, 0);
    return { ...compared, books: books.length, documents, today, told };
  } finally {
    await sandbox.close();
    await warehouse.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Days at which something ends or begins, and zones in which it is another day than in UTC. */
function momentOf(seed: number): { now: string; timeZone: string } {
  const moments = fc.record({
    now: fc.oneof(
      fc.constantFrom('2026-03-01T00:30:00Z', '2024-02-29T12:00:00Z', '2025-12-31T23:30:00Z', '2026-04-30T11:00:00Z'),
      fc.date({ min: new Date('2025-01-01'), max: new Date('2027-12-31'), noInvalidDate: true }).map((date) => date.toISOString()),
    ),
    timeZone: fc.constantFrom('UTC', 'Pacific/Kiritimati', 'Pacific/Pago_Pago', 'America/Los_Angeles', 'Asia/Kolkata'),
  });
  const [moment] = fc.sample(moments, { seed, numRuns: 1 });
  if (moment === undefined) throw new Error('fast-check gave no sample');
  return moment;
}

export function booksOf({ seed, books, documents, today }: { seed: number; books: number; documents: number; today: string }): RandomBook[] {
  return Array.from({ length: books }, (_, index) => {
    const name = `book-${seed}-${index}`;
    return fc.sample(arbitraryBook({ name, today, documents }), { seed: seed + index, numRuns: 1 });
  }).flat();
}

const fxRates = [
  ['USD', 'EUR', '2020-01-01', '0.9'],
  ['USD', 'EUR', '2026-01-01', '0.85123456789'],
  ['EUR', 'USD', '2025-06-01', '1.1'],
  ['JPY', 'USD', '2020-01-01', '0.0067'],
  ['USD', 'JPY', '2020-01-01', '151.335'],
  ['USD', 'KWD', '2020-01-01', '0.30715'],
].map(([from_currency = '', to_currency = '', valid_from = '', rate = '']) => ({ from_currency, to_currency, valid_from, rate }));

async function writeSeeds(folder: string, books: readonly RandomBook[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  const write = (file: string, head: string, lines: readonly string[][]): Promise<void> =>
    writeFile(join(folder, `${file}.csv`), [head, ...lines.map((line) => line.map((one) => `"${one}"`).join(',')), ''].join('\n'));
  await write(
    'connection_settings',
    'connection_id,base_currency,fx_direction',
    books.flatMap(({ name, settings }) => (settings === null ? [] : [[name, settings.base_currency, settings.fx_direction]])),
  );
  await write('fx_rates', 'from_currency,to_currency,valid_from,rate', fxRates.map((rate) => Object.values(rate)));
  await write(
    'vendor_names',
    'connection_id,vendor_id,vendor_name',
    books.flatMap(({ name, vendorNames }) => Object.entries(vendorNames).map(([id, called]) => [name, id, called])),
  );
  await write(
    'account_map',
    'connection_id,account_id,account_name,account_type',
    books.flatMap(({ name, accountNames }) =>
      Object.entries(accountNames).map(([id, account]) => [name, id, account.account_name, account.account_type]),
    ),
  );
}

async function buildBoth(input: { databaseUrl: string; folder: string; lake: string; today: string }): Promise<void> {
  const { databaseUrl, folder, lake, today: asOfDate } = input;
  const settings = {
    ...{ home: folder, cacheFolder: join(homedir(), '.cache', 'daybook'), environment: process.env },
    ...{ apiAddress: testApiAddress, connections: 3, asOfDate, onStep: () => undefined },
  };
  await withBuildLock({ databaseUrl, target: 'postgres' }, (client) => buildOnPostgres(client, { ...settings, databaseUrl }));
  const runId = 'books';
  await makeSnapshot(
    {
      ...{ databaseUrl, databaseConnections: 3, lake, scratch: join(folder, 'scratch'), runId },
      keep: { last: 7, daily: 30, monthEnds: true },
      ...{ productVersion: '0.0.0-test', warehouseId: 'the-warehouse' },
      snapshotId: snapshotId({ runId, startedAt: new Date() }),
    },
    () => undefined,
  );
  await buildOnLake({ ...settings, lake });
}

async function typesOf(warehouse: Warehouse, mart: string): Promise<Map<string, string>> {
  const columns = await rows(
    warehouse,
    `select column_name as name, data_type as type from information_schema.columns
     where table_schema = 'marts' and table_name = $1`,
    [mart],
  );
  return new Map(columns.map(({ name, type }) => [String(name), String(type)]));
}
