import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dbtProject } from '../../marts/dbt-project.ts';
import { proofTest } from '../support/proof-test.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { checkBooks } from './check-books.ts';
import { martNames } from './compare-marts.ts';
import { modelMutants } from './model-mutants.ts';

const { url } = await createTestDatabase();

proofTest(
  'every figure of every mart of random books equals the calculator’s, in Postgres and on the lake',
  async () => {
    // Always the same books here; `npm run simulate -- --books` checks others, and thousands of them.
    const checked = await checkBooks({ databaseUrl: url, seed: 100, books: 4, documents: 24 });
    expect(checked.differences).toEqual([]);
    expect(checked.figures).toBeGreaterThan(400_000);
  },
);

test('the calculator covers every mart', async () => {
  const files = await readdir(join(dbtProject, 'models', 'marts'));
  expect(files.filter((file) => file.endsWith('.sql')).sort()).toEqual(
    martNames.map((name) => `${name}.sql`).sort(),
  );
});

test.each(modelMutants)('the code that a mutant replaces still exists: $name', async ({ file, find }) => {
  const right = await readFile(join(dbtProject, file), 'utf8');
  expect(right.split(find)).toHaveLength(2);
});
