import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { queriesToTry } from '../../cli/tour/summary.ts';
import { buildAndCompare } from '../books/check-books.ts';
import { withBooks, type BooksFixture } from '../books/books-fixture.ts';
import { addBill, addCredit, addExpense, worked, workedOn } from '../books/worked-book.ts';
import { pythonEnvironment } from '../support/python-environment.ts';
import { rows } from '../support/rows.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { blocksOf } from './blocks-of.ts';
import { requirementsOfDocs } from './requirements-of-docs.ts';
import { expectedOf } from './measures.ts';
import { isOfDuckDb, lakeSql, measuresIn, statementsOfDocs, type Sample } from './samples.ts';

const { url } = await createTestDatabase();
const bin = join(await pythonEnvironment(requirementsOfDocs()), 'bin');
const samples = [...statementsOfDocs(), ...queriesToTry.map((sql): Sample => ({ page: 'the tour', sql }))]
  .filter((sample) => measuresIn(sample).length > 0)
  .map(({ page, sql }) => ({ page, sql: sql.replaceAll('acme-us', 'owed-and-owed-back') }));

const overdue = { issue_date: '2026-10-01', due_date: '2026-10-31', currency_code: 'USD' };
const unknown = { ...overdue, currency_code: 'NZD' };

/** Contains amounts owed back beside amounts owed, and one amount that is larger than marts can hold. */
const book = worked(
  'owed-and-owed-back',
  {
    0: [
      addBill('owed', { ...overdue, total_amount: 100 }),
      addBill('below-0', { ...overdue, total_amount: -100 }),
      addBill('overpaid', {
        ...{ ...overdue, vendor_id: 'b', total_amount: 20, amount_due: -80, status: 'paid' },
        linked_payments: [{ id: 'p', allocated_date: '2026-10-05', allocated_amount: 100 }],
      }),
      addCredit('credit', { ...overdue, vendor_id: 'c', total_amount: 30 }),
      addBill('known', { ...unknown, total_amount: 60 }),
      addBill('immense', { ...unknown, vendor_id: 'b', total_amount: 1e17 }),
      addExpense('immense-expense', {
        ...{ vendor_id: 'd', transaction_date: '2026-10-05', currency_code: 'USD' },
        line_items: [{ total_amount: 1e17 }],
      }),
      addExpense('spent', {
        ...{ vendor_id: 'a', transaction_date: '2026-10-05', currency_code: 'NZD' },
        line_items: [{ total_amount: 5 }],
      }),
    ],
  },
  {},
).book;

test('samples subtract nothing from what is owed, and return null for an amount that is not known', async () => {
  const moment = { now: workedOn, timeZone: 'UTC', books: [book] };
  await withBooks({ databaseUrl: url, ...moment }, async (books) => {
    await buildAndCompare(books);
    const said: Record<string, number> = {};
    for (const sample of samples) {
      const { page, sql } = sample;
      for (const measure of measuresIn(sample))
        for (const row of await answer(books, sample)) {
          const [expected] = await ask(books, expectedOf(measure, row, sql));
          const what = `${page}: ${sql}\n${JSON.stringify(row)}`;
          expect(numberOf(row[measure]), what).toBe(numberOf(expected?.expected));
          const kind = row[measure] === null ? 'null' : 'known';
          said[`${measure} ${kind}`] = (said[`${measure} ${kind}`] ?? 0) + 1;
        }
    }
    // Each measure was queried, with known amounts and with an unknown one.
    expect(Object.keys(said).sort()).toEqual(
      ['open', 'overdue', 'spend'].flatMap((measure) => [`${measure} known`, `${measure} null`]),
    );
    // docs/marts.md says that amounts owed back have rows of their own, which a sum of all rows subtracts.
    const [usd] = await ask(
      books,
      `select (select sum(open_bills) from marts.ap_ageing where is_today and currency_code = 'USD') as open,
         sum(amount_due) filter (where due_bucket <> 'unapplied_credits') as in_cash, sum(amount_due) as in_all_cash,
         (select sum(open_amount) filter (where not is_credit) from marts.ap_open_items where is_today and currency_code = 'USD') as in_items,
         (select sum(open_amount) from marts.ap_open_items where is_today and currency_code = 'USD') as in_all_items
       from marts.cash_requirements where currency_code = 'USD'`,
    );
    expect([usd?.open, usd?.in_cash, usd?.in_items].map(numberOf)).toEqual([100, 100, 100]);
    expect(numberOf(usd?.in_all_cash)).toBeLessThan(0);
    expect(numberOf(usd?.in_all_items)).toBe(numberOf(usd?.in_all_cash));
    expect(await dueInPython(books)).toMatchObject({ 'a USD': '100.00', 'b USD': '0.00', 'b NZD': 'None' });
  });
});

type Row = Readonly<Record<string, string | null>>;

async function answer(books: BooksFixture, sample: Sample): Promise<Row[]> {
  if (!isOfDuckDb(sample)) return ask(books, sample.sql);
  writeFileSync(join(books.home, 'lake.sql'), lakeSql());
  const args = ['-bail', '-json', '-init', 'lake.sql', '-c', sample.sql];
  return JSON.parse(await run(books, join(bin, 'duckdb'), args)) as Row[];
}

async function ask({ warehouse }: BooksFixture, sql: string): Promise<Row[]> {
  return (await rows(warehouse, sql)) as Row[];
}

/** The variable `due` that the last program of the page computes for the book. */
async function dueInPython(books: BooksFixture): Promise<Record<string, string>> {
  const page = resolve(import.meta.dirname, '../../docs/connect/python.md');
  const due = blocksOf(page).findLast(({ language }) => language === 'python')?.text ?? '';
  const program = [
    'import json, os',
    'import pandas as pd',
    'lake = os.environ["DAYBOOK_LAKE"]',
    due,
    'print(json.dumps({f"{v} {c}": str(d if d is None else round(d, 2)) for (b, v, c), d in due.items() if b == "owed-and-owed-back"}))',
  ].join('\n');
  const said = await run(books, join(bin, 'python'), ['-c', program]);
  return JSON.parse(said.trim().split('\n').at(-1) ?? '') as Record<string, string>;
}

async function run({ home, lake }: BooksFixture, command: string, args: readonly string[]): Promise<string> {
  const env = { ...process.env, DAYBOOK_LAKE: lake };
  const running = promisify(execFile)(command, args, { env, cwd: home });
  running.child.stdin?.end();
  return (await running).stdout;
}

function numberOf(value: string | null | undefined): number | null {
  return value === null || value === undefined ? null : Number(value);
}
