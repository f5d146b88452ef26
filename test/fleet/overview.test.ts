import { beforeAll, describe, expect, test } from 'vitest';
import { launchBrowser } from '../support/browser.ts';
import { createInstallation } from '../support/installation.ts';
import { openConsole } from '../console/open-console.ts';
import { eventually } from '../support/eventually.ts';
import { failSync } from '../alerts/facts.ts';
import { addFleet } from './add-fleet.ts';
import { countRequests } from './count-requests.ts';
import { proofTest } from '../support/proof-test.ts';

const installation = await createInstallation();
const { warehouse, client: temporal } = installation;
const { client, asked } = await countRequests({
  address: installation.env.TEMPORAL_ADDRESS ?? '',
  namespace: installation.namespace,
});
const url = await openConsole({ ...installation, client });
const { open } = await launchBrowser();

beforeAll(async () => {
  await addFleet(warehouse, { connections: 250, apiAddress: installation.sandbox.url });
  await failSync(warehouse, 'co-00200', 'It failed.');
  await warehouse.pool.query(
    `insert into sync.alerts (kind, connection_id, message, remedy)
     select 'stalled', 'co-' || lpad(n::text, 5, '0'), 'It is stalled.', 'Reconcile it.' from generate_series(60, 99) n`,
  );
});

describe('the overview of many connections', () => {
  test('is paged, lists connections that need a person first, and describes no schedule', async () => {
    const page = await open(url);
    const first = await page.getByRole('rowheader').allTextContents();
    expect(first.length).toBe(100);
    expect(first[0]).toContain('co-00060');
    expect(first[40]).toContain('co-00200');
    expect(first[41]).toContain('co-00000');
    expect(await page.locator('.lead').textContent()).toContain('250 connections · 1 failing');
    await page.getByRole('link', { name: 'Next' }).click();
    await page.getByRole('link', { name: 'Next' }).click();
    const last = await page.getByRole('rowheader').allTextContents();
    expect(last.length).toBe(50);
    expect(last.at(-1)).toContain('co-00249');
    expect(await page.getByRole('link', { name: 'Next' }).count()).toBe(0);
    expect(asked.get('DescribeSchedule')).toBeUndefined();
    expect(asked.get('ListSchedules')).toBe(1);
  });

  test('shows some open alerts, and links to the others', async () => {
    const page = await open(url);
    expect(await page.getByLabel('Open alerts').getByRole('article').count()).toBe(20);
    expect(await page.getByRole('link', { name: '20 more open alerts' }).getAttribute('href')).toBe(
      '/alerts',
    );
  });

  test('can be filtered by state and by a part of the name, in a URL that can be bookmarked', async () => {
    const page = await open(url);
    await page.getByLabel('State').selectOption('failing');
    await page.getByRole('button', { name: 'Show' }).click();
    expect(await page.getByRole('rowheader').allTextContents()).toEqual([
      expect.stringContaining('co-00200'),
    ]);
    await page.goto(url);
    await page.getByLabel('Name has').fill('o-0012');
    await page.getByRole('button', { name: 'Show' }).click();
    expect(await page.getByRole('rowheader').count()).toBe(10);
    expect(new URL(page.url()).searchParams.get('search')).toBe('o-0012');
    await page.goto(`${url}/?search=nobody`);
    expect(await page.locator('.empty').textContent()).toContain('There is no such connection.');
    for (const strange of ['?page=0', '?page=x', '?state=x', '?page=999999'])
      expect((await page.goto(`${url}/${strange}`))?.status()).toBe(200);
  });

  test('is small', async () => {
    const html = await (await fetch(url)).text();
    expect(html.length).toBeLessThan(250_000);
  });

  test('shows a pause made in Temporal within a while', async () => {
    await installation.run(['connection', 'set', 'co-00003', '--every', '15m']);
    await temporal.schedule.getHandle('sync/co-00003').pause('the auditors are here');
    const page = await open(`${url}/?search=co-00003`);
    await eventually(async () => {
      await page.reload();
      return (await page.locator('.pill').allTextContents()).includes('paused') ? true : undefined;
    }, 40);
    await page.goto(`${url}/connections/co-00003`);
    expect(await page.locator('#main').textContent()).toContain('the auditors are here');
  });

  test('has a text field for the name instead of a menu of all connections', async () => {
    const page = await open(`${url}/runs`);
    await page.getByLabel('Connection').fill('co-00200');
    await page.getByRole('button', { name: 'Show' }).click();
    expect(await page.getByRole('row').count()).toBe(2);
    const html = await (await fetch(`${url}/runs`)).text();
    expect(html).not.toContain('co-00100');
  });

  proofTest('keeps a half-typed name when the page is refreshed', async () => {
    const page = await open(url);
    await page.getByLabel('Name has').fill('half a na');
    const refreshed = await page.waitForResponse((response) => response.url() === `${url}/`, {
      timeout: 15_000,
    });
    await refreshed.finished();
    await page.waitForTimeout(300);
    expect(await page.getByLabel('Name has').inputValue()).toBe('half a na');
  });
});

describe('daybook status', () => {
  test('shows connections that need a person first, counts the others, and shows all on request', async () => {
    const { stdout, code } = await installation.run(['status']);
    expect(code).toBe(0);
    const shown = headlines(stdout);
    expect(shown.length).toBe(20);
    expect(shown[0]).toBe('co-00060');
    expect(stdout).toContain('230 more connections are not shown, 21 of which need attention.');
    expect(stdout).toContain('"daybook status --all"');
    const all = await installation.run(['status', '--all']);
    expect(headlines(all.stdout).length).toBe(250);
    expect(all.stdout).not.toContain('not shown');
    const json = await installation.run(['status', '--json']);
    expect((JSON.parse(json.stdout) as { connections: unknown[] }).connections.length).toBe(250);
  });

  test('exits with 3 when a connection is stale, even one that is not shown', async () => {
    await warehouse.pool.query(
      `update sync.streams set last_success_at = now() - interval '1 hour' where connection_id = 'co-00249'`,
    );
    const { stdout, code } = await installation.run(['status']);
    expect(code).toBe(3);
    expect(headlines(stdout)).not.toContain('co-00249');
  });
});

function headlines(text: string): string[] {
  return [...text.matchAll(/^(co-\d+) \(XERO\) · /gm)].map(([, name = '']) => name);
}
