import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeSnapshot } from '../../activities/export/make-snapshot.ts';
import { snapshotId } from '../../lake/manifest/snapshot-id.ts';
import { todayIn } from '../../marts/today-in.ts';
import { startSandbox } from '../../sandbox/start-sandbox.ts';
import { openWarehouse, type Warehouse } from '../../warehouse/open-warehouse.ts';
import { createSandboxAdmin } from '../support/sandbox-admin.ts';
import { calculate, type Calculated } from './calculate.ts';
import { loadBook, type CalculatorBook } from './load-book.ts';
import type { RandomBook } from './arbitrary-book.ts';
import { drawMoment, randomBooks } from './random-books.ts';
import { cacheFolder } from '../support/cache-folder.ts';
import { fxRates, writeSeeds } from './write-seeds.ts';

/** The id of the warehouse that holds the books. */
export const booksWarehouseId = 'the-warehouse';

/** Books that were loaded side by side into one warehouse and one snapshot, with the expected marts. */
export interface BooksFixture {
  readonly databaseUrl: string;
  readonly warehouse: Warehouse;
  /** `DAYBOOK_HOME`, with the seeds. */
  readonly home: string;
  readonly lake: string;
  /** In the company's time zone. */
  readonly today: string;
  readonly todayInUtc: string;
  readonly books: readonly CalculatorBook[];
  readonly documents: number;
  /** The calculator's input. */
  readonly calculatorInput: Parameters<typeof calculate>[0];
  readonly calculated: Calculated;
}

export interface RandomBooksInput {
  /** A migrated database that nobody has used. */
  readonly databaseUrl: string;
  readonly seed: number;
  readonly books: number;
  /** The number of bills in each book; it has half as many expenses, and so on. */
  readonly documents: number;
  /** Whether Iceberg tables show the snapshot. */
  readonly iceberg?: boolean;
}

/** Loads random books into a warehouse and a snapshot, and removes the snapshot after `use`. */
export async function withRandomBooks<Result>(
  input: RandomBooksInput,
  use: (fixture: BooksFixture) => Promise<Result>,
): Promise<Result> {
  const { databaseUrl, seed } = input;
  const { now, timeZone } = drawMoment(seed);
  const random = randomBooks({ ...input, today: todayIn(timeZone, new Date(now)) });
  const { iceberg = false } = input;
  return withBooks({ databaseUrl, now, timeZone, books: random, iceberg }, use);
}

/** Loads the given books into a warehouse and a snapshot. */
export async function withBooks<Result>(
  input: {
    databaseUrl: string;
    now: string;
    timeZone: string;
    books: readonly RandomBook[];
    iceberg?: boolean;
  },
  use: (fixture: BooksFixture) => Promise<Result>,
): Promise<Result> {
  const { databaseUrl, now, timeZone, iceberg = false } = input;
  const home = await mkdtemp(join(tmpdir(), 'daybook-books-'));
  const warehouse = openWarehouse({ url: databaseUrl, connections: 6 });
  try {
    const [today, todayInUtc] = [todayIn(timeZone, new Date(now)), todayIn('UTC', new Date(now))];
    const books = await loadBooks(warehouse, { books: input.books, home, today, now });
    const lake = join(home, 'lake');
    await exportTo(lake, { databaseUrl, home, iceberg });
    const calculatorInput = { now, time_zone: timeZone, fx_rates: fxRates, books };
    const calculated = await calculate(calculatorInput);
    const documents = books
      .flatMap(({ records }) => Object.values(records))
      .reduce((sum, { length }) => sum + length, 0);
    return await use({
      databaseUrl,
      warehouse,
      home,
      lake,
      today,
      todayInUtc,
      books,
      documents,
      calculatorInput,
      calculated,
    });
  } finally {
    await warehouse.close();
    await rm(home, { recursive: true, force: true });
  }
}

async function loadBooks(
  warehouse: Warehouse,
  { books, home, today, now }: { books: readonly RandomBook[]; home: string; today: string; now: string },
): Promise<CalculatorBook[]> {
  await writeSeeds(join(home, 'seeds'), books);
  const sandbox = await startSandbox({ records: 100 });
  try {
    const admin = createSandboxAdmin(sandbox.adminUrl);
    const loaded: CalculatorBook[] = [];
    // Pruning affects all existing connections, so a pruned book comes before those that are pruned less, or not at all.
    const inOrder = [...books].sort((one, other) => prunedAt(other) - prunedAt(one));
    for (const book of inOrder) loaded.push(await loadBook({ admin, warehouse }, { book, today, now }));
    return loaded;
  } finally {
    await sandbox.close();
  }
}

function prunedAt({ prunedUntil = 0, prunedAgainUntil }: RandomBook): number {
  return prunedAgainUntil === undefined ? prunedUntil : Number.MAX_SAFE_INTEGER;
}

async function exportTo(
  lake: string,
  { databaseUrl, home, iceberg }: { databaseUrl: string; home: string; iceberg: boolean },
): Promise<void> {
  const runId = 'books';
  await makeSnapshot(
    {
      databaseUrl,
      databaseConnections: 3,
      lake,
      scratch: join(home, 'scratch'),
      runId,
      keep: { last: 7, daily: 30, monthEnds: true },
      productVersion: '0.0.0-test',
      warehouseId: booksWarehouseId,
      snapshotId: snapshotId({ runId, startedAt: new Date() }),
      ...(iceberg ? { iceberg: { add: true, cacheFolder } } : {}),
    },
    () => undefined,
  );
}
