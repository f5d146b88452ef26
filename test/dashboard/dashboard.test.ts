import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { charts } from '../../server/dashboard/charts.ts';
import { asObjects } from '../../server/dashboard/chart.ts';
import { queryAsReader } from '../../warehouse/query/query-as-reader.ts';
import { launchBrowser } from '../support/browser.ts';
import { clientSecret, createInstallation, secretKey } from '../support/installation.ts';
import { proofTest, some } from '../support/proof-test.ts';
import { seriousFindings } from '../support/serious-findings.ts';
import { compareFigures } from './compare-figures.ts';
import { asOfDate, hostileNames, openDashboard } from './open-dashboard.ts';
import { shownBy } from './shown.ts';

const installation = await createInstallation();
const { warehouse, cwd } = installation;
const { open } = await launchBrowser();
const file = join(cwd, 'dashboard.html');
let url: string;
let dollars: string;

beforeAll(async () => {
  const opened = await openDashboard(installation);
  [, dollars = ''] = opened.companies;
  url = `${opened.url}/dashboard`;
  const { code, stderr } = await installation.run(['dashboard', '--out', file]);
  expect(code, stderr).toBe(0);
});

test('every chart shows and draws exactly the figures of its statement, run as the reader', async () => {
  const page = await open(url);
  const read = new Map<string, Record<string, unknown>[]>();
  for (const { id } of charts) {
    const statement = await page.locator(`[id="${id}-sql"]`).textContent();
    read.set(id, asObjects(await queryAsReader(warehouse, statement ?? '')));
  }
  const choices = await choicesOn(page);
  expect(choices.length).toBeGreaterThan(5);
  for (const [connection, currency] of choices) {
    await choose(page, connection, currency);
    for (const { id } of charts) {
      const rows = (read.get(id) ?? []).filter((row) => isOf(row, connection, currency));
      compareFigures(await shownBy(page, id), rows, `${id} ${connection} ${currency}`);
    }
  }
});

describe('the choice of connection and currency', () => {
  test('shows one currency only, with its number of decimals', async () => {
    const page = await open(url);
    await choose(page, '', 'JPY');
    const yen = await shownBy(page, 'recurring-revenue');
    expect(yen.sentence).toMatch(
      /^JPY [\d,]+ on 16 Dec 2025 \(the month is not over\), from [\d,]+ at its beginning\.$/,
    );
    expect(yen.rows.flat().join(' ')).not.toMatch(/\d\.\d/);
    await choose(page, '', 'KWD');
    const dinars = await shownBy(page, 'recurring-revenue');
    // A subscription of the sandbox has an unknown status.
    for (const [, ...amounts] of dinars.rows)
      for (const amount of amounts) expect(amount).toMatch(/\.\d{3}$|^not known$/);
    expect(await page.locator('#key-figures').textContent()).not.toMatch(/EUR|USD|JPY/);
  });

  proofTest('is kept in the address, and works without JavaScript', async () => {
    const page = await open(url);
    await choose(page, dollars, 'EUR');
    const { rows } = await shownBy(page, 'recurring-revenue');
    const plainPage = await open(page.url(), { javaScriptEnabled: false });
    expect(await plainPage.locator('select[name=currency]').inputValue()).toBe('EUR');
    const section = plainPage.locator('#recurring-revenue');
    expect(await section.locator('[data-rows] tr').count()).toBe(rows.length);
    expect(await section.locator('[data-rows] tr').first().locator('td').allTextContents()).toEqual(rows[0]);
    await page.reload();
    expect((await shownBy(page, 'recurring-revenue')).rows).toEqual(rows);
  });

  proofTest('defaults to all connections and the currency with the most open bills', async () => {
    const page = await open(url);
    const [most] = asObjects(
      await queryAsReader(
        warehouse,
        `select currency_code from marts.ap_open_items where is_today and document_type = 'bill'
         group by 1 order by count(*) desc, 1 limit 1`,
      ),
    );
    expect(await page.locator('select[name=connection]').inputValue()).toBe('');
    expect(await page.locator('select[name=currency]').inputValue()).toBe(most?.currency_code);
  });
});

describe('the page', () => {
  test('says how fresh each connection is, and when the marts are old', async () => {
    const page = await open(url);
    expect(await page.locator('.lead').textContent()).toMatch(
      new RegExp(
        `^Data as of \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC · marts of ${asOfDate}, built \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC \\((just now|\\d+ min ago)\\)$`,
      ),
    );
    expect(await page.getByLabel('Freshness of each connection').getByRole('listitem').count()).toBe(2);
    const old = page.getByText('These marts are 3 days old: build new ones with "npx daybook dbt build"');
    // Whatever day they are for, they were built just now.
    expect(await old.count()).toBe(0);
    await warehouse.pool.query(`update sync.marts set built_at = built_at - interval '3 days'`);
    await page.reload();
    expect(await old.count()).toBe(1);
    await warehouse.pool.query(`update sync.marts set built_at = built_at + interval '3 days'`);
  });

  proofTest('says that new marts are being built, or that the last build failed', async () => {
    const page = await open(url);
    for (const target of ['lake', 'postgres']) {
      await warehouse.pool.query(
        `insert into sync.runs (run_id, kind, status, workflow_id, temporal_run_id, reason, target)
         values ('building', 'marts', 'running', 'marts', 'building', 'test', $1)
         on conflict (run_id) do update set target = $1`,
        [target],
      );
      await page.reload();
      expect(
        await page.getByText('New marts are being built; these are the last good ones.').isVisible(),
      ).toBe(true);
    }
    await warehouse.pool.query(
      `update sync.runs set status = 'failed', finished_at = now() where run_id = 'building'`,
    );
    await page.reload();
    expect(await page.getByText('The last build of the marts failed').isVisible()).toBe(true);
    await warehouse.pool.query(`delete from sync.runs where run_id = 'building'`);
  });

  test.each(some(['light', 'dark'] as const))(
    'has no serious accessibility finding in %s mode',
    async (colorScheme) => {
      const page = await open(url, {
        colorScheme,
        viewport: { width: colorScheme === 'light' ? 1280 : 390, height: 844 },
      });
      expect(await seriousFindings(page)).toEqual([]);
      await page.evaluate(`document.querySelectorAll('details').forEach((one) => { one.open = true; })`);
      expect(await seriousFindings(page)).toEqual([]);
    },
  );

  proofTest('does not scroll sideways, on a phone or a desktop, with everything open', async () => {
    const page = await open(url);
    await page.evaluate(`document.querySelectorAll('details').forEach((one) => { one.open = true; })`);
    for (const width of [390, 768, 1120, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate('document.documentElement.scrollWidth'), `${width} px`).toBe(width);
    }
  });

  proofTest('can be used by keyboard alone', async () => {
    const page = await open(url);
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').textContent()).toBe('Skip to content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').getAttribute('name')).toBe('connection');
    await page.keyboard.press('Tab');
    const before = await page.locator('select[name=currency]').inputValue();
    await page.keyboard.press('ArrowDown');
    expect(await page.locator('select[name=currency]').inputValue()).not.toBe(before);
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').textContent()).toBe('Figures');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').getAttribute('aria-label')).toBe('Figures: Key figures');
  });

  test('describes the columns of a mart that a chart links to', async () => {
    const page = await open(url);
    await page.locator('#ap-ageing .marts a').first().click();
    const mart = page.getByRole('region', { name: 'Columns of ap_ageing' });
    expect(await mart.textContent()).toContain('Most days past due');
  });

  test('shows hostile vendor names as text', async () => {
    const page = await open(url);
    const seen: string[] = [];
    for (const [connection, currency] of await choicesOn(page)) {
      await choose(page, connection, currency);
      seen.push(...(await shownBy(page, 'spend-by-vendor')).rows.map(([vendor = '']) => vendor));
      if (hostileNames.every((name) => seen.includes(name))) break;
    }
    expect(seen).toEqual(expect.arrayContaining([...hostileNames]));
    await choose(page, '', 'EUR');
    await page.locator('#ap-ageing [data-plot]').hover();
    await page.locator('.tip').waitFor();
    expect(await page.title()).toBe('Dashboard · Daybook');
    expect(await page.locator('img').count()).toBe(0);
  });
});

describe('the dashboard file', () => {
  test('shows the same figures as the page, and loads nothing', async () => {
    const page = await open('about:blank');
    const served = await open(url);
    const asked: string[] = [];
    const said: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    page.on('console', (message) => said.push(message.text()));
    const address = pathToFileURL(file).href;
    await page.goto(address);
    for (const { id } of charts) expect(await shownBy(page, id), id).toEqual(await shownBy(served, id));
    await choose(page, dollars, 'EUR');
    await choose(served, dollars, 'EUR');
    for (const { id } of charts) expect(await shownBy(page, id), id).toEqual(await shownBy(served, id));
    expect(asked).toEqual([address]);
    expect(said).toEqual([]);
    expect(await seriousFindings(page)).toEqual([]);
  });

  test('contains no secret, and leaves no other file beside it', async () => {
    const text = await readFile(file, 'utf8');
    const { password } = new URL(installation.databaseUrl);
    for (const secret of [`token-of-${dollars}`, clientSecret, secretKey.toString('base64'), password])
      expect(text).not.toContain(secret);
    expect(Buffer.byteLength(text)).toBeLessThan(2e6);
    expect((await readdir(cwd)).filter((name) => name.startsWith('dashboard'))).toEqual(['dashboard.html']);
  });

  proofTest(
    'is reported as JSON, can be written to standard output, and needs an existing folder',
    async () => {
      const told = await installation.run(['dashboard', '--out', 'again.html', '--json']);
      expect(JSON.parse(told.stdout)).toEqual({
        path: join(cwd, 'again.html'),
        as_of_date: asOfDate,
        built_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
        bytes: (await readFile(join(cwd, 'again.html'))).byteLength,
      });
      const piped = await installation.run(['dashboard', '--out', '/dev/stdout', '--json']);
      expect(piped.stdout).toBe(await readFile(join(cwd, 'again.html'), 'utf8'));
      const lost = await installation.run(['dashboard', '--out', 'nowhere/dashboard.html']);
      expect(lost.code).toBe(2);
      expect(lost.stderr).toContain('nowhere/dashboard.html cannot be written');
    },
  );
});

async function choose(page: Page, connection: string, currency: string): Promise<void> {
  await page.locator('select[name=connection]').selectOption(connection);
  await page.locator('select[name=currency]').selectOption(currency);
}

/** All connections, and each connection, in each of its currencies. */
async function choicesOn(page: Page): Promise<[connection: string, currency: string][]> {
  const { currencies } = await page.evaluate<{ currencies: Record<string, string[]> }>(
    `JSON.parse(document.getElementById('dashboard-data').textContent).choices`,
  );
  return Object.entries(currencies).flatMap(([connection, codes]) =>
    codes.map((currency): [string, string] => [connection, currency]),
  );
}

function isOf(row: Record<string, unknown>, connection: string, currency: string): boolean {
  if ((row.connection_id ?? '') !== connection) return false;
  return !('currency_code' in row) || (row.currency_code ?? '') === currency;
}
