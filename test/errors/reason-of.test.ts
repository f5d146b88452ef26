import { expect, test } from 'vitest';
import { reasonOf } from '../../errors/reason-of.ts';
import { rows } from '../support/rows.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

test.each([`select 'of a record'::numeric`, `select 'of a record'::timestamptz`])(
  'a log quotes no value that Postgres refused: %s',
  async (statement) => {
    const error: unknown = await rows(warehouse, statement).catch((thrown: unknown) => thrown);
    expect(String(error)).toContain('of a record');
    expect(reasonOf(error)).toMatch(/^Postgres refused a value \(SQLSTATE 22...\)$/);
    expect(reasonOf(new Error('A landing failed', { cause: error }))).toMatch(
      /^A landing failed: Postgres refused a value/,
    );
  },
);

test('a log gives the message of any other Postgres error, and the cause of an error', async () => {
  const error: unknown = await rows(warehouse, 'select from missing').catch((thrown: unknown) => thrown);
  expect(reasonOf(error)).toBe('relation "missing" does not exist');
  expect(reasonOf(new Error('fetch failed', { cause: new Error('connect ECONNREFUSED') }))).toBe(
    'fetch failed: connect ECONNREFUSED',
  );
});
