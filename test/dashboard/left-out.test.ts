import { beforeAll, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { openConsole } from '../console/open-console.ts';
import { launchBrowser } from '../support/browser.ts';
import { allocation, bill, billLine, list, type Fields } from '../support/finance-records.ts';
import { createInstallation } from '../support/installation.ts';
import { land } from '../support/land.ts';
import { seriousFindings } from '../support/serious-findings.ts';
import { addTestConnection, testApiAddress } from '../support/test-connection.ts';
import { buildMarts } from './build-marts.ts';
import { shownBy } from './shown.ts';

const installation = await createInstallation();
const { warehouse } = installation;
const { open } = await launchBrowser();
const asOfDate = '2025-12-16';
let url: string;
/** The sentence of a figure about months that were not read to their end. */
let notRead: (months: string) => string;

beforeAll(async () => {
  const connectionId = await addTestConnection(warehouse);
  await land(warehouse, { connectionId, stream: 'bills', pages: [bills] });
  // Nothing of the second connection was read yet.
  const [first = '', second = ''] = [connectionId, await addTestConnection(warehouse)].sort();
  notRead = (months) =>
    `${months} of ${first} and ${months} of ${second} were not read to their end: more may have been spent`;
  await buildMarts(installation, { asOfDate, apiAddress: testApiAddress });
  url = `${await openConsole(installation)}/dashboard`;
});

/** Euros with noise and too many digits, dollars with an amount that is too large, pounds dated ahead and paid ahead. */
const bills: readonly string[] = [
  owed('noisy', 'EUR', {
    total_amount: '4867.08',
    amount_due: '3866.7799999999997',
    due_date: '"2025-12-01"',
    linked_payments: list(allocation('p1', { allocated_amount: '1000.3', allocated_date: '"2025-12-02"' })),
  }),
  owed('rounded', 'EUR', {
    total_amount: '12.0000000004',
    amount_due: '12.0000000004',
    due_date: '"2025-12-20"',
    vendor_id: '"vendor-2"',
  }),
  owed('immense', 'USD', {
    total_amount: '100000000000000000',
    amount_due: '100000000000000000',
    due_date: '"2025-12-10"',
    vendor_id: '"vendor-2"',
  }),
  owed('long', 'CHF', { total_amount: '447340.6534567894', amount_due: '447340.6534567894' }),
  owed('ordinary', 'USD', { total_amount: '50', amount_due: '50', due_date: '"2025-12-18"' }),
  owed('ahead', 'GBP', {
    total_amount: '70',
    amount_due: '70',
    issue_date: '"2025-12-17"',
    due_date: '"2025-12-18"',
  }),
  owed('paid-ahead', 'GBP', {
    total_amount: '60',
    amount_due: '0',
    status: '"paid"',
    due_date: '"2025-12-15"',
    linked_payments: list(allocation('p2', { allocated_amount: '60', allocated_date: '"2025-12-17"' })),
  }),
  owed('late', 'NOK', { total_amount: '100', amount_due: '100', due_date: '"2025-12-10"' }),
  owed('negative', 'NOK', {
    ...{ total_amount: '-100', amount_due: '-100' },
    ...{ due_date: '"2025-12-10"', vendor_id: '"vendor-2"' },
  }),
  owed('discounted', 'NOK', {
    ...{ total_amount: '100', amount_due: '0', status: '"paid"', due_date: 'null' },
    issue_date: '"2025-11-30"', // no past month end has a bill of this month
    linked_payments: list(allocation('p3', { allocated_amount: '98', allocated_date: '"2025-12-02"' })),
  }),
  owed('known', 'SEK', { total_amount: '10', amount_due: '10', due_date: '"2025-12-18"' }),
  owed('novel', 'SEK', { total_amount: '11063.8', amount_due: '11063.8', status: '"pending_approval"' }),
  owed('undated', 'SEK', {
    ...{ total_amount: '777', amount_due: '777' },
    ...{ issue_date: 'null', due_date: '"2025-12-18"' },
  }),
  owed('owing', 'SEK', {
    ...{ total_amount: '-5', amount_due: '-5' },
    ...{ due_date: '"2025-12-18"', vendor_id: '"vendor-2"' },
  }),
  owed('broken', 'SEK', { total_amount: '{}', amount_due: '5' }),
];

test('an amount with noise digits is overdue in full, and one sentence says how many amounts are rounded', async () => {
  const page = await open(`${url}?currency=EUR`);
  expect(await tilesOf(page)).toMatchObject({
    'Open bills': ['3,878.78', '2 bills'],
    Overdue: ['3,866.78', '99.7 % of what is to be paid'],
    'Due within 14 days': ['12.00', 'today included'],
    'Spend in Dec 2025': ['4,879.08', 'the month is not over; 0.00 in the month before'],
  });
  expect(await gapOf(page, 'key-figures')).toBe(
    `${notRead('Nov 2025')}; amounts of 3 records, in whatever currency, have more than 9 decimals and are rounded.`,
  );
  expect(await gapOf(page, 'ap-ageing')).toBeNull();
});

test('the head of the page says how many connections were never read to the end, and what waits in quarantine', async () => {
  const page = await open(url);
  expect(await page.locator('.note').allTextContents()).toEqual([
    // Only bills of the first connection were read.
    '2 connections have not been read to the end yet: every figure lacks what is still to come.',
    '1 record is in quarantine: the figures have the last good version, or nothing where there is none. "daybook quarantine list" says why.',
  ]);
});

test('a figure with all its digits fits on one line, on a phone and on a desktop', async () => {
  const page = await open(`${url}?currency=CHF`);
  expect(await tilesOf(page)).toMatchObject({ 'Open bills': ['447,340.653456789', '1 bill'] });
  for (const width of [390, 768, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    const lines = await page.evaluate<
      number[]
    >(`[...document.querySelectorAll('.tile-value')].map((value) => {
      const range = document.createRange();
      range.selectNodeContents(value);
      return new Set([...range.getClientRects()].map(({ top }) => top)).size;
    })`);
    expect(lines, `${width} px`).toEqual(lines.map(() => 1));
    // Charts follow the width of the window a moment later.
    await expect.poll(() => page.evaluate<number>('document.documentElement.scrollWidth')).toBe(width);
  }
});

test('a figure that needs an amount too large to be held is “not known”, not a partial sum, and a sentence says so', async () => {
  const page = await open(`${url}?currency=USD`);
  expect(await tilesOf(page)).toMatchObject({
    'Open bills': ['not known', '2 bills'],
    Overdue: ['not known', ''],
    'Due within 14 days': ['50.00', 'today included'],
    'Spend in Dec 2025': ['not known', 'the month is not over; 0.00 in the month before'],
  });
  expect(await gapOf(page, 'key-figures')).toBe(
    `3 amounts are left out, too large to be held or never sent: every figure that needs them is “not known”, and the data quality below says whose they are; ${notRead('Nov 2025')}; amounts of 3 records, in whatever currency, have more than 9 decimals and are rounded.`,
  );
  const one =
    '1 amount is left out, too large to be held or never sent: every figure that needs it is “not known”, and the data quality below says whose it is.';
  for (const id of ['ap-ageing', 'ap-trend', 'cash-requirements'])
    expect(await gapOf(page, id), id).toBe(one);
  const { sentence, rows, series } = await shownBy(page, 'ap-ageing');
  expect(sentence).toBe(
    'An unknown amount of USD is owed net of credits: 2 vendors are owed; an unknown amount of USD is overdue.',
  );
  expect(rows.map(([vendor, ...amounts]) => [vendor, amounts[1], amounts[7]])).toEqual([
    ['Vendor vendor-2', 'not known', 'not known'],
    ['Vendor vendor-1', '0.00', '50.00'],
    ['All vendors', 'not known', 'not known'],
  ]);
  expect(series.find(({ name }) => name === '1–30 days')?.data).toEqual([null, 0]);
  expect((await shownBy(page, 'data-quality')).rows).toEqual(
    expect.arrayContaining([expect.arrayContaining(['amount does not fit', '1'])]),
  );
  // Year on year covers complete months, in which nothing is unknown.
  expect(await page.locator('#spend-by-vendor [data-sentence]').textContent()).toBe(
    'Nothing was spent in the last 24 complete months.',
  );
  expect(await seriousFindings(page)).toEqual([]);
});

test('figures name the bills of unknown status and undated documents that they lack; a vendor that owes us is not owed', async () => {
  const page = await open(`${url}?currency=SEK`);
  expect(await tilesOf(page)).toMatchObject({
    'Open bills': ['787.00', '2 bills'],
    'Unapplied credits': ['-5.00', 'and bills below 0 or overpaid; not taken off open bills'],
    'Spend in Dec 2025': ['5.00', 'the month is not over; 0.00 in the month before'],
  });
  const odd = '1 bill of an unknown status is left out (amount due 11,063.80)';
  const unspent = '1 document of an unknown status is left out (spend 11,063.80)';
  const undated = '1 document without a date is left out (spend 777.00)';
  const rounded = 'amounts of 3 records, in whatever currency, have more than 9 decimals and are rounded';
  expect(await gapOf(page, 'key-figures')).toBe(
    `${odd}; ${unspent}; ${undated}; ${notRead('Nov 2025')}; ${rounded}.`,
  );
  for (const id of ['ap-ageing', 'ap-trend', 'cash-requirements'])
    expect(await gapOf(page, id), id).toBe(`${odd}.`);
  expect(await gapOf(page, 'spend-by-month')).toBe(
    `${unspent}; ${undated}; ${notRead('Jan 2024 to Nov 2025')}.`,
  );
  expect((await shownBy(page, 'ap-ageing')).sentence).toBe(
    'SEK 782.00 is owed net of credits: 1 vendor is owed, 1 owes us; SEK 0.00 is overdue.',
  );
});

test('an amount that one vendor owes back reduces no other vendor’s; an unlinked settlement is named for past days', async () => {
  const page = await open(`${url}?currency=NOK`);
  expect(await tilesOf(page)).toMatchObject({
    'Open bills': ['100.00', '1 bill'],
    Overdue: ['100.00', '100.0 % of what is to be paid'],
    'Unapplied credits': ['-100.00', 'and bills below 0 or overpaid; not taken off open bills'],
  });
  expect((await shownBy(page, 'cash-requirements')).sentence).toBe(
    'NOK 100.00 is overdue, 0.00 of open bills falls due within 7 days; 100.00 of credits is not applied yet.',
  );
  expect(await gapOf(page, 'ap-trend')).toBe(
    '1 bill with an amount that no payment or credit explains is shown without it in past months (together 2.00).',
  );
  expect(await gapOf(page, 'ap-ageing')).toBeNull();
});

test('a bill dated tomorrow is in cash requirements alone, and a bill paid tomorrow is open everywhere', async () => {
  const page = await open(`${url}?currency=GBP`);
  expect(await tilesOf(page)).toMatchObject({
    'Open bills': ['60.00', '1 bill'],
    Overdue: ['60.00', '100.0 % of what is to be paid'],
    'Due within 14 days': ['70.00', 'today included; 70.00 of it dated ahead'],
  });
  const { rows } = await shownBy(page, 'cash-requirements');
  expect(rows.filter((row) => /[1-9]/.test(row.slice(1).join('')))).toEqual([
    ['Overdue', '60.00', '0.00', '60.00', '1'],
    ['16 Dec', '0.00', '70.00', '70.00', '0'],
  ]);
});

function owed(id: string, currency: string, fields: Fields): string {
  const { total_amount = '0' } = fields;
  return bill(id, {
    currency_code: `"${currency}"`,
    currency_rate: 'null',
    issue_date: '"2025-12-01"',
    document_number: `"${id}"`,
    tax_amount: '0',
    line_items: list(billLine({ total_amount, sub_total: total_amount, tax_amount: '0' })),
    ...fields,
  });
}

async function tilesOf(page: Page): Promise<Record<string, (string | undefined)[]>> {
  const tiles = await page
    .locator('#key-figures [data-tiles] > div')
    .evaluateAll((all) =>
      all.map((tile) => [...tile.children].map((child) => (child as { textContent: string }).textContent)),
    );
  return Object.fromEntries(tiles.map(([name = '', ...rest]) => [name, rest]));
}

async function gapOf(page: Page, id: string): Promise<string | null> {
  const gap = page.locator(`[id="${id}"] [data-gap]`);
  return (await gap.isVisible()) ? gap.textContent() : null;
}
