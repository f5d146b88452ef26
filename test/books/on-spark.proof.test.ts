import { expect, test, vi } from 'vitest';
import { hasJava } from '../support/has-java.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { buildAndCompare } from './check-books.ts';
import { buildOnSparkAndCompare } from './on-spark.ts';
import { withBooks, withRandomBooks, type BooksFixture } from './books-fixture.ts';
import { workedOn } from './worked-book.ts';
import { workedBooks } from './worked-books.ts';

// Spark takes minutes where others take seconds, and its packages are installed on the first use.
vi.setConfig({ testTimeout: 3_600_000 });

test.skipIf(!hasJava())(
  'every figure of the worked books equals the calculator’s on Spark, in Postgres and in DuckDB',
  async () => {
    const { url: databaseUrl } = await createTestDatabase();
    const books = workedBooks().map(({ book }) => book);
    await withBooks({ databaseUrl, now: workedOn, timeZone: 'UTC', books, iceberg: true }, compareAll);
  },
);

test.skipIf(!hasJava())(
  'every figure of every mart of random books equals the calculator’s on Spark, in Postgres and in DuckDB',
  async () => {
    const { url: databaseUrl } = await createTestDatabase();
    await withRandomBooks({ databaseUrl, seed: 300, books: 6, documents: 24, iceberg: true }, compareAll);
  },
);

async function compareAll(fixture: BooksFixture): Promise<void> {
  const { differences, figures } = await buildOnSparkAndCompare(fixture);
  expect(differences).toEqual([]);
  expect(figures).toBeGreaterThan(100_000);
  expect((await buildAndCompare(fixture)).differences).toEqual([]);
}
