import { expect, test } from 'vitest';
import { isProof, proofTest } from '../support/proof-test.ts';
import { createTestDatabase } from '../support/test-database.ts';
import type { Value } from './calculate.ts';
import { buildAndCompare, buildAndCompareInPostgres } from './check-books.ts';
import { martInPostgres } from './read-marts.ts';
import { withBooks, type BooksFixture } from './books-fixture.ts';
import { workedIn, workedOn, type Figure, type WorkedBook } from './worked-book.ts';
import { workedBooks } from './worked-books.ts';
import { workedBehindUtc } from './worked-behind-utc.ts';
import {
  afterUtcMonthEnd,
  beforeUtcMonthEnd,
  workedAfterUtcMonthEnd,
  workedBeforeUtcMonthEnd,
} from './worked-ahead-of-utc.ts';

const { url } = await createTestDatabase();

test('the calculator and the marts match the figures that an accountant worked out by hand', async () => {
  await compareWithHand(workedBooks(), { databaseUrl: url, now: workedOn, timeZone: 'UTC' });
});

proofTest(
  'marts built in a time zone behind UTC include what was recorded today, whatever the day and month in UTC',
  async () => {
    const { url: databaseUrl } = await createTestDatabase();
    const input = { databaseUrl, timeZone: 'America/Los_Angeles' };
    await compareWithHand(workedBehindUtc(), { ...input, now: '2026-11-23T02:00:00Z' });
  },
);

proofTest(
  'a month of recurring revenue in a zone ahead of UTC is complete once it is over in UTC too',
  async () => {
    const timeZone = 'Pacific/Auckland';
    const { url: before } = await createTestDatabase();
    await compareWithHand(workedBeforeUtcMonthEnd(), {
      databaseUrl: before,
      timeZone,
      now: beforeUtcMonthEnd,
    });
    const { url: after } = await createTestDatabase();
    await compareWithHand(workedAfterUtcMonthEnd(), { databaseUrl: after, timeZone, now: afterUtcMonthEnd });
  },
);

async function compareWithHand(
  worked: readonly WorkedBook[],
  input: { databaseUrl: string; now: string; timeZone: string },
): Promise<void> {
  await withBooks({ ...input, books: worked.map(({ book }) => book) }, async (fixture) => {
    // test/dbt/totals.test.ts checks that both targets agree.
    const { differences } = await (isProof ? buildAndCompare : buildAndCompareInPostgres)(fixture);
    const byHand: Record<string, Figure> = {};
    const byCalculator: Record<string, Figure> = {};
    const inMarts: Record<string, Figure> = {};
    const martNamed = readOnce(fixture);
    for (const { book, figures } of worked)
      for (const [asked, figure] of Object.entries(figures)) {
        const question = `${book.name}: ${asked}`;
        byHand[question] = figure;
        byCalculator[question] = evaluateFigure(question, (mart) => fixture.calculated[mart] ?? []);
        const rows = await martNamed(/: (\w+)\./.exec(question)?.[1] ?? '');
        inMarts[question] = evaluateFigure(question, () => rows);
      }
    expect(byCalculator).toEqual(byHand);
    expect(inMarts).toEqual(byHand);
    expect(differences).toEqual([]);
  });
}

type Row = Readonly<Record<string, Value>>;

/** Reads each mart once, because hundreds of figures come from the same twenty marts. */
function readOnce({ warehouse }: BooksFixture): (mart: string) => Promise<readonly Row[]> {
  const read = new Map<string, Promise<readonly Row[]>>();
  return (mart) => {
    const rows = read.get(mart) ?? martInPostgres(warehouse, mart).then((found) => found.rows);
    read.set(mart, rows);
    return rows;
  };
}

/** Evaluates `book: mart.column where key = value and …`: the sum of several rows, undefined for none. For words, the value of the first row. */
function evaluateFigure(question: string, rowsIn: (mart: string) => readonly Row[]): Figure {
  const [, book = '', mart = '', column = '', conditions = ''] =
    /^(\S+): (\w+)\.(\w+) where (.+)$/.exec(question) ?? [];
  const wanted = conditions.split(' and ').map((condition) => condition.split(' = '));
  const values = rowsIn(mart)
    .filter(
      (row) =>
        row.connection_id === book &&
        (row.currency_code === undefined || [...workedIn, 'null'].includes(String(row.currency_code))) &&
        wanted.every(([key = '', value]) => String(row[key]) === value),
    )
    .map((row) => row[column]);
  if (values.length === 0) return undefined;
  if (values.includes(null)) return null;
  if (values.some((value) => /^(true|false)$/.test(String(value)))) return String(values[0]) === 'true';
  if (values.some((value) => Number.isNaN(Number(value)))) return String(values[0]);
  return values.reduce<number>((sum, value) => sum + Number(value), 0);
}
