import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { buildInPostgres } from '../books/check-books.ts';
import { withRandomBooks, type BooksFixture } from '../books/books-fixture.ts';
import { openConsole } from '../console/open-console.ts';
import { launchBrowser } from '../support/browser.ts';
import { createInstallation } from '../support/installation.ts';
import { expectedFigures, type Choice } from './expected-figures.ts';
import { shownBy, type Shown } from './shown.ts';

const installation = await createInstallation();
const { warehouse, databaseUrl } = installation;
const { open } = await launchBrowser();
let url: string;

beforeAll(async () => {
  url = `${await openConsole(installation)}/dashboard`;
});

test('every number on the dashboard of random books equals the calculator’s', async () => {
  // Four books have more vendors than a chart ranks, so that some are in the row of all others.
  await withRandomBooks({ databaseUrl, seed: 100, books: 4, documents: 24 }, async (books) => {
    await buildInPostgres(books);
    await warehouse.pool.query(
      `insert into sync.marts (target, run_id, as_of_date, marts, begun_at) values ('postgres', 'built', $1, 24, $2)`,
      [books.today, books.calculatorInput.now],
    );
    const page = await open(url);
    const choices = choicesOf(books);
    expect(choices.length).toBeGreaterThan(20);
    for (const choice of choices) {
      await page.locator('select[name=connection]').selectOption(choice.connection);
      await page.locator('select[name=currency]').selectOption(choice.currency);
      const expected = expectedFigures(books.calculated, {
        ...{ ...choice, today: books.today },
        utcDay: [books.today, books.calculatorInput.now.slice(0, 10)].sort()[0] ?? books.today,
      });
      for (const [id, { rows, told, gap }] of Object.entries(expected)) {
        const where = `${id} of ${JSON.stringify(choice)}`;
        const shown = await shownBy(page, id);
        expect(shown.rows, where).toEqual(rows);
        expect(amountsIn(shown.sentence), `${where}: ${shown.sentence}`).toEqual(told);
        expect(await gapOn(page, id), where).toEqual(gap);
        expect(drawnIn(shown), where).toEqual(figuresOfBars(id, shown));
      }
    }
  });
});

/** All connections, and each one, in each currency with subscriptions or documents that are not excluded. */
function choicesOf({ calculated, books }: BooksFixture): Choice[] {
  const marts = ['ap_open_items', 'cash_requirements', 'vendor_spend_monthly', 'mrr_movements_monthly'];
  return ['', ...books.map(({ connection_id: name }) => name)].flatMap((connection) => {
    const odd = ['bills', 'vendor_credits'].flatMap((mart) =>
      (calculated[mart] ?? []).filter((row) => row.posting_status === 'unknown'),
    );
    const rows = marts
      .flatMap((mart) => (calculated[mart] ?? []).filter((row) => mart !== 'ap_open_items' || row.is_today))
      .concat(odd)
      .filter((row) => connection === '' || row.connection_id === connection);
    const currencies = new Set(rows.map((row) => String(row.currency_code ?? '')));
    // All companies together have no sum of amounts without a currency, which may be of several.
    if (connection === '') currencies.delete('');
    return [...currencies].map((currency) => ({ connection, currency }));
  });
}

/** The amounts in a sentence, without days and numbers of months or days. */
function amountsIn(sentence: string): string[] {
  const words = sentence
    .replace(/\d{1,2} [A-Z][a-z]{2}( \d{4})?|[A-Z][a-z]{2} \d{4}/g, 'a day')
    .replace(/\d+ (complete )?(months|days)/g, 'a time')
    .replace(/Only a day has figures.*/, '');
  return [...words.matchAll(/an unknown amount|-?\d[\d,]*(\.\d+)?/gi)].map(([amount]) =>
    amount.toLowerCase(),
  );
}

/** The counts and amounts in the sentence about what is left out. */
async function gapOn(page: Page, id: string): Promise<string[]> {
  const gap = page.locator(`[id="${id}"] [data-gap]`);
  if (!(await gap.isVisible())) return [];
  // Unread months have no number other than that of further connections.
  const words = ((await gap.textContent()) ?? '')
    .replace('more than 9 decimals', '')
    .replace(/\d{1,2} [A-Z][a-z]{2}|[A-Z][a-z]{2} \d{4}|book-\d+/g, 'a name');
  return [...words.matchAll(/an unknown amount|-?\d[\d,]*(\.\d+)?/g)].map(([amount]) => amount);
}

function drawnIn({ series }: Shown): (number | null)[][] {
  return series.map(({ data }) => data);
}

/** The bars are the cells of the table, which is compared with the calculator. A cell without a number has no bar. */
function figuresOfBars(id: string, { heads, rows, series }: Shown): (number | null)[][] {
  if (series.length === 0) return [];
  if (id === 'spend-by-month') return rows.slice(0, -1).map((row) => row.slice(2).map(numberOf));
  const vendors = heads[0] === 'Vendor' ? rows.slice(0, -1) : rows;
  const drawn = id === 'cash-requirements' ? vendors.slice(1, -2) : vendors;
  return series.map(({ name }) => {
    const column = heads.indexOf(columnsOf[name] ?? name);
    return drawn.map((row) => numberOf(row[column] ?? ''));
  });
}

const columnsOf: Readonly<Record<string, string>> = {
  'Expected to be paid': 'Expected',
  'Closing (right axis)': 'Closing',
};

function numberOf(cell: string): number | null {
  return /^-?[\d,]+(\.\d+)?$/.test(cell) ? Number(cell.replaceAll(',', '')) : null;
}
