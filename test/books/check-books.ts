import { buildOnLake } from '../../marts/build-on-lake.ts';
import { buildOnPostgres } from '../../marts/build-on-postgres.ts';
import { MartsFailed } from '../../marts/errors.ts';
import { withBuildLock } from '../../warehouse/marts/build-lock.ts';
import { testApiAddress } from '../support/test-connection.ts';
import { compareMart, martNames, type Compared } from './compare-marts.ts';
import { martInPostgres, martOnLake } from './read-marts.ts';
import {
  booksWarehouseId,
  withRandomBooks,
  type BooksFixture,
  type RandomBooksInput,
} from './books-fixture.ts';
import { cacheFolder } from '../support/cache-folder.ts';

export interface BooksChecked extends Compared {
  readonly books: number;
  /** The records that the sandbox held at the end. */
  readonly documents: number;
  readonly today: string;
}

/** Builds the marts of random books as the product does, on both targets, and compares every figure with the calculator's. */
export async function checkBooks(input: RandomBooksInput): Promise<BooksChecked> {
  return withRandomBooks(input, async (fixture) => ({
    ...(await buildAndCompare(fixture).catch(reportFailedTests)),
    books: fixture.books.length,
    documents: fixture.documents,
    today: fixture.today,
  }));
}

/** Reports a failed test of the models as a wrong figure. */
function reportFailedTests(error: unknown): Compared {
  if (!(error instanceof MartsFailed)) throw error;
  return { rows: 0, figures: 0, differences: [error.message] };
}

export async function buildAndCompare(fixture: BooksFixture): Promise<Compared> {
  await buildInPostgres(fixture);
  const { databaseUrl, lake } = fixture;
  await withBuildLock({ databaseUrl, target: 'lake' }, (lock) =>
    buildOnLake(lock, { ...buildSettings(fixture), lake }),
  );
  return compare(fixture, ['Postgres', 'lake']);
}

/** Builds and compares in only one of the two targets. */
export async function buildAndCompareInPostgres(fixture: BooksFixture): Promise<Compared> {
  await buildInPostgres(fixture);
  return compare(fixture, ['Postgres']);
}

export async function buildInPostgres(fixture: BooksFixture): Promise<void> {
  const { databaseUrl } = fixture;
  await withBuildLock({ databaseUrl, target: 'postgres' }, (lock) =>
    buildOnPostgres(lock, { ...buildSettings(fixture), databaseUrl }),
  );
}

export function buildSettings({
  home,
  today: asOfDate,
  calculatorInput,
}: BooksFixture): Omit<Parameters<typeof buildOnLake>[1], 'lake'> {
  return {
    home,
    owner: { warehouseId: booksWarehouseId, hasNoted: () => Promise.resolve(false) },
    cacheFolder,
    environment: process.env,
    apiAddress: testApiAddress,
    connections: 3,
    asOfDate,
    timeZone: calculatorInput.time_zone,
    onStep: () => undefined,
  };
}

async function compare(
  { warehouse, lake, calculated }: BooksFixture,
  targets: readonly ('Postgres' | 'lake')[],
): Promise<Compared> {
  const compared: Compared = { rows: 0, figures: 0, differences: [] };
  for (const name of martNames)
    for (const where of targets) {
      const read = where === 'lake' ? await martOnLake(lake, name) : await martInPostgres(warehouse, name);
      compareMart(compared, { name, where, ...read }, calculated);
    }
  return compared;
}
