import { buildOnLake } from '../../marts/build-on-lake.ts';
import { buildOnPostgres } from '../../marts/build-on-postgres.ts';
import { MartsFailed } from '../../marts/errors.ts';
import { withBuildLock } from '../../warehouse/marts/build-lock.ts';
import { testApiAddress } from '../support/test-connection.ts';
import { compareMart, martNames, type Compared } from './compare-marts.ts';
import { martInPostgres, martOnLake } from './read-marts.ts';
import { shelfWarehouseId, withShelf, type Shelf, type ShelfInput } from './shelf.ts';
import { cacheFolder } from '../support/cache-folder.ts';

export interface BooksChecked extends Compared {
  readonly books: number;
  /** The records that the sandbox held at the end. */
  readonly documents: number;
  readonly today: string;
}

/** Builds the marts of random books as the product does, on both targets, and compares every figure with the calculator's. */
export async function checkBooks(input: ShelfInput): Promise<BooksChecked> {
  return withShelf(input, async (shelf) => ({
    ...(await buildAndCompare(shelf).catch(ofFailedTests)),
    books: shelf.books.length,
    documents: shelf.documents,
    today: shelf.today,
  }));
}

/** Reports a failed test of the models as a wrong figure. */
function ofFailedTests(error: unknown): Compared {
  if (!(error instanceof MartsFailed)) throw error;
  return { rows: 0, figures: 0, differences: [error.message] };
}

export async function buildAndCompare(shelf: Shelf): Promise<Compared> {
  await buildInPostgres(shelf);
  const { databaseUrl, lake } = shelf;
  await withBuildLock({ databaseUrl, target: 'lake' }, (lock) =>
    buildOnLake(lock, { ...settingsOf(shelf), lake }),
  );
  return compare(shelf, ['Postgres', 'lake']);
}

/** Builds and compares in only one of the two targets. */
export async function buildAndCompareInPostgres(shelf: Shelf): Promise<Compared> {
  await buildInPostgres(shelf);
  return compare(shelf, ['Postgres']);
}

export async function buildInPostgres(shelf: Shelf): Promise<void> {
  const { databaseUrl } = shelf;
  await withBuildLock({ databaseUrl, target: 'postgres' }, (lock) =>
    buildOnPostgres(lock, { ...settingsOf(shelf), databaseUrl }),
  );
}

export function settingsOf({
  home,
  today: asOfDate,
  told,
}: Shelf): Omit<Parameters<typeof buildOnLake>[1], 'lake'> {
  return {
    home,
    owner: { warehouseId: shelfWarehouseId, hasNoted: () => Promise.resolve(false) },
    cacheFolder,
    environment: process.env,
    apiAddress: testApiAddress,
    connections: 3,
    asOfDate,
    timeZone: told.time_zone,
    onStep: () => undefined,
  };
}

async function compare(
  { warehouse, lake, calculated }: Shelf,
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
