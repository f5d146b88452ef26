import { Client, Connection } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { launchBrowser } from '../support/browser.ts';
import { clientSecret, createInstallation, secretKey } from '../support/installation.ts';
import { proofTest, some } from '../support/proof-test.ts';
import { row } from '../support/rows.ts';
import { seriousFindings } from '../support/serious-findings.ts';
import { openConsole } from './open-console.ts';
import { planted, plantStates } from './plant-states.ts';

const installation = await createInstallation();
const { warehouse } = installation;
await plantStates(warehouse, secretKey, installation.sandbox.url);
const url = await openConsole(installation);
const { open } = await launchBrowser();

const paths = [
  ...['/', '/runs', '/quarantine', '/discrepancies', '/snapshots', '/webhooks', '/alerts', '/nothing'],
  ...['acme-us', 'failing', 'gone', 'new', 'paused', 'stale'].map((name) => `/connections/${name}`),
  ...['run-us', 'run-us-before', 'run-failing'].map((id) => `/runs/${id}`),
];

describe('the overview', () => {
  test('shows the state of every connection, and the open alerts', async () => {
    const page = await open(url);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Connections');
    const stateOf = (name: string) =>
      page
        .getByRole('row', { name: new RegExp(`^${name} `) })
        .locator('.pill')
        .allTextContents();
    expect(await stateOf('acme-us')).toEqual(['quarantine', 'running']);
    expect(await stateOf('acme-eu')).toEqual(['up to date']);
    expect(await stateOf('failing')).toEqual(['failing']);
    expect(await stateOf('gone')).toEqual(['asks for approval', 'quarantine']);
    expect(await stateOf('paused')).toEqual(['paused']);
    expect(await stateOf('stale')).toEqual(['stale']);
    expect(await page.getByLabel('Open alerts').getByRole('article').count()).toBe(2);
    expect(await page.getByRole('row', { name: /^acme-us / }).textContent()).toMatch(
      /QUICKBOOKS.*3 min ago.*1 waiting/,
    );
  });

  proofTest('is shown without Temporal, too, and says what is not known', async () => {
    const away = new Client({ connection: Connection.lazy({ address: '127.0.0.1:9' }) });
    const lonely = await openConsole({ ...installation, client: away });
    const page = await open(lonely);
    expect(await page.locator('.note').textContent()).toContain('Temporal does not answer');
    expect(await page.getByRole('rowheader').count()).toBe(7);
    await page.goto(`${lonely}/connections/acme-us`);
    // Both the action and the page after it wait for Temporal.
    await page.getByRole('button', { name: 'Sync now' }).click({ timeout: 60_000 });
    expect(await page.getByRole('alert').textContent()).toContain(
      'Temporal does not answer, so whether it was started is not known.',
    );
  });
});

test('the list of snapshots shows what each added, and how to compare two', async () => {
  const page = await open(`${url}/snapshots`);
  const cells = await page
    .getByRole('row')
    .filter({ has: page.getByRole('rowheader') })
    .allInnerTexts();
  expect(cells.map((row) => row.split(/\s*[\t\n]\s*/).filter((cell) => !cell.endsWith('ago')))).toEqual([
    ['20261122T060000Z-000003 latest', '920,150', '101.4', '9.8', '1,021', '97', '2'],
    ['20261120T060000Z-000001', '920,011', '101.3', '0'],
  ]);
  expect(await page.locator('.lead').textContent()).toContain(
    'npx daybook snapshots diff 20261120T060000Z-000001 20261122T060000Z-000003',
  );
});

describe('a connection', () => {
  test('shows its streams, its running work with a link to Temporal, and its other sections', async () => {
    const page = await open(`${url}/connections/acme-us`);
    expect(
      await page
        .getByRole('row', { name: /^bills / })
        .first()
        .textContent(),
    ).toMatch(/complete.*4 min ago/);
    expect(await page.getByLabel('Running now').textContent()).toMatch(/62,000 records/);
    const link = page.getByLabel('Running now').getByRole('link', { name: /in Temporal/ });
    expect(await link.getAttribute('href')).toBe(
      `http://temporal.example/namespaces/${installation.namespace}/workflows/sync%2Facme-us/run-us`,
    );
    for (const heading of ['Streams', 'Runs', 'Quarantine', 'Discrepancies', 'Webhooks']) {
      expect(await page.getByRole('heading', { name: heading }).count(), heading).toBe(1);
    }
  });

  test('that is paused says why, and can be resumed', async () => {
    const page = await open(`${url}/connections/paused`);
    expect(await page.locator('.facts').textContent()).toContain('Month end: ');
    expect(await page.getByRole('button', { name: 'Resume' }).isVisible()).toBe(true);
  });

  test('shows control and direction-changing characters as escapes', async () => {
    const set = 'update sync.connections set paused_why = $1 where connection_id = $2 returning paused_why';
    const { paused_why: before } = await row(
      warehouse,
      'select paused_why from sync.connections where connection_id = $1',
      ['paused'],
    );
    await row(warehouse, set, ['month \u202edne\u0007', 'paused']);
    const page = await (await fetch(`${url}/connections/paused`)).text();
    await row(warehouse, set, [before, 'paused']);
    expect(page).toContain(String.raw`month \u202edne\u0007`);
    expect(page).not.toContain('\u202e');
  });

  test('over the delete limit asks for approval in two steps', async () => {
    const page = await open(`${url}/connections/gone`);
    const button = page.getByRole('button', { name: 'Delete 60 records' });
    expect(await button.isVisible()).toBe(false);
    await page.getByText('Approve the deletions …').click();
    expect(await button.isVisible()).toBe(true);
  });
});

describe('a run', () => {
  test('shows what it did to each stream, and what failed', async () => {
    const page = await open(`${url}/runs/run-failing`);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Sync of failing');
    expect(await page.locator('.failure').textContent()).toContain('The next run goes on.');
    expect(
      await page
        .getByRole('row', { name: /^bills / })
        .first()
        .textContent(),
    ).toContain('12,400');
    expect(await page.getByText('GaveUp').isVisible()).toBe(true);
  });

  test('that compared both sides shows their sums with every digit', async () => {
    const page = await open(`${url}/runs/run-us-before`);
    const row = page.getByRole('row', { name: /USD total_amount/ });
    expect(await row.getByRole('cell').allTextContents()).toEqual([
      ...['USD', 'total_amount', '4812733.10', '4812733.10', 'equal'],
    ]);
  });

  test('that is unknown is a 404, as is an unknown connection', async () => {
    for (const path of ['/runs/none', '/connections/none', '/nothing']) {
      expect((await get(path)).status, path).toBe(404);
    }
  });
});

describe('discrepancies', () => {
  test('of all connections link to those whose deletions wait, and of one offer the approval', async () => {
    const all = await open(`${url}/discrepancies`);
    const waiting = all.getByRole('region', { name: 'Deletions waiting for approval' });
    expect(await waiting.getByRole('link').allTextContents()).toEqual(['gone']);
    await waiting.getByRole('link', { name: 'gone' }).click();
    expect(new URL(all.url()).pathname).toBe('/connections/gone');
    const one = await open(`${url}/discrepancies?connection=gone`);
    await one.getByText('Approve the deletions …').click();
    expect(await one.getByRole('button', { name: 'Delete 60 records' }).isVisible()).toBe(true);
  });
});

describe('a long list', () => {
  test('is split into pages, with nothing left out or shown twice', async () => {
    const seen: string[] = [];
    const page = await open(`${url}/discrepancies`);
    for (;;) {
      seen.push(...(await page.getByRole('rowheader').allTextContents()));
      const older = page.getByRole('link', { name: 'Older' });
      if ((await older.count()) === 0) break;
      await older.click();
    }
    expect(seen).toHaveLength(61);
    expect(new Set(seen).size).toBe(61);
  });
});

// One page for all of it, because opening a page takes the time.
test.each(some(paths, 2))(
  "the page %s escapes foreign text, hides secrets, fits a phone's width, and has no serious axe finding",
  async (path) => {
    const { text, headers } = await get(path);
    for (const secret of [planted.token, planted.body, clientSecret, secretKey.toString('base64')])
      expect(text).not.toContain(secret);
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('cache-control')).toBe('no-store');

    const page = await open(url + path, { colorScheme: 'light' });
    expect(await page.title()).not.toContain('owned');
    expect(await page.locator('img').count()).toBe(0);
    for (const width of [390, 768, 1120, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate('document.documentElement.scrollWidth'), `${width} px`).toBe(width);
    }
    expect(await seriousFindings(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await seriousFindings(page)).toEqual([]);
  },
);

async function get(path: string): Promise<{ status: number; text: string; headers: Headers }> {
  const response = await fetch(url + path);
  return { status: response.status, text: await response.text(), headers: response.headers };
}
