import { beforeAll, expect, test } from 'vitest';
import { findChoices, resolveChoice } from '../../server/dashboard/choices.ts';
import { findView } from '../../server/dashboard/find-view.ts';
import { readDashboard, type Dashboard } from '../../server/dashboard/read-dashboard.ts';
import { inTurns } from '../../server/in-turns.ts';
import { openConsole } from '../console/open-console.ts';
import { eventually } from '../support/eventually.ts';
import { bill } from '../support/finance-records.ts';
import { createInstallation } from '../support/installation.ts';
import { land } from '../support/land.ts';
import { addTestConnection, testApiAddress } from '../support/test-connection.ts';
import { buildMarts } from './build-marts.ts';

const installation = await createInstallation();
const { warehouse } = installation;
/** A browser would write the text after it backwards. */
const turned = 'C05\u202e\u0007';
let honest: string;
let crowded: string;
let empty: string[];
let dashboard: Dashboard;

beforeAll(async () => {
  honest = await addTestConnection(warehouse);
  crowded = await addTestConnection(warehouse);
  empty = [];
  for (let count = 0; count < 505; count += 1) empty.push(await addTestConnection(warehouse));
  await land(warehouse, { connectionId: honest, stream: 'bills', pages: [billsOf(['EUR', 'USD', null])] });
  const codes = Array.from({ length: 60 }, (_, index) => `C${String(index).padStart(2, '0')}`);
  codes[5] = turned;
  // One currency has two bills.
  const pages = [[...billsOf([...codes, 'C41', null]), ...longBills()]];
  await land(warehouse, { connectionId: crowded, stream: 'bills', pages });
  await buildMarts(installation, { asOfDate: '2025-12-16', apiAddress: testApiAddress });
  dashboard = await readDashboard(warehouse);
});

/** The data that the page's scripts draw. */
function dataOf(page: string): string {
  return /id="dashboard-data">([^<]*)</.exec(page)?.[1] ?? '';
}

function billsOf(codes: readonly (string | null)[]): string[] {
  return codes.map((code, index) =>
    bill(`b${index}`, {
      currency_code: JSON.stringify(code),
      vendor_id: JSON.stringify(`v\u2066${index}`),
      issue_date: '"2025-12-01"',
      due_date: '"2025-12-20"',
      total_amount: '10',
      amount_due: '10',
    }),
  );
}

/** Bills with a vendor name and with IDs whose escaped characters exceed the size that a page may have. */
function longBills(): string[] {
  const long = (suffix: string): string => JSON.stringify(`${'\u0001'.repeat(1_900)}${suffix}`);
  const platformData = `{"VendorRef": {"name": "${'N'.repeat(3_000_000)}"}}`;
  return [1, 2, 3].map((index) =>
    bill(`${'\u0001'.repeat(1_900)}${index}`, {
      currency_code: index === 3 ? long('currency') : '"C41"',
      vendor_id: index === 2 ? '"named"' : long('vendor'),
      document_number: '"1"',
      issue_date: '"2025-12-01"',
      due_date: '"2025-12-20"',
      total_amount: '10',
      amount_due: '10',
      ...(index === 2 ? { platform_data: platformData } : {}),
    }),
  );
}

test('a company with a currency per bill offers 20 of them, and displaces none of another company', () => {
  const { currencies } = findChoices(dashboard);
  expect(currencies[crowded]).toHaveLength(20);
  expect(currencies[crowded]).toEqual(expect.arrayContaining(['', 'C41', 'C00', 'C17']));
  expect(currencies[honest]?.toSorted()).toEqual(['', 'EUR', 'USD']);
  expect(currencies['']).toHaveLength(20);
  for (const { id, views } of dashboard.charts) {
    const offered = views.filter(
      ({ connection, currency }) => connection === crowded && currency !== undefined,
    );
    expect(offered.length, id).toBeLessThanOrEqual(20);
  }
});

test('the page offers the connections with the most documents, and any other on request', async () => {
  const { connections } = findChoices(dashboard);
  const left = empty.filter((name) => !connections.includes(name));
  expect(connections).toEqual(expect.arrayContaining(['', honest, crowded]));
  expect(connections.length).toBeLessThanOrEqual(481);
  expect(left.length).toBe(505 + 3 - connections.length);
  const asked = await readDashboard(warehouse, left[0]);
  const choices = findChoices(asked);
  const query = new URLSearchParams({ connection: left[0] ?? '' });
  expect(resolveChoice(choices, query).connection).toBe(left[0]);
  const quality = asked.charts.find(({ id }) => id === 'data-quality');
  expect(quality && findView(quality, resolveChoice(choices, query))?.sentence).toMatch(
    /checks found something/,
  );
});

test('the page says how many currencies and connections it leaves out', async () => {
  const { connections } = findChoices(dashboard);
  const url = await openConsole(installation);
  const page = await (await fetch(`${url}/dashboard`)).text();
  expect(/[\d,]+ rarer[^<]*/.exec(page)?.[0]).toBe(
    `44 rarer currencies and ${508 - connections.length} connections with fewer documents are left out of what can be chosen here: the marts have them all.`,
  );
  expect(page.includes('and 7 more')).toBe(true);
  expect(Buffer.byteLength(page)).toBeLessThan(3e6);
});

test('the data of a build is read once, and that of the next build anew', async () => {
  const url = `${await openConsole(installation)}/dashboard`;
  const page = async (): Promise<string> => dataOf(await (await fetch(url)).text());
  const first = await page();
  const other = await warehouse.pool.connect();
  try {
    // Any reader of the marts now waits.
    await other.query('begin; lock table marts.bills in access exclusive mode');
    expect(await page()).toBe(first);
    await warehouse.pool.query(`update sync.marts set built_at = now() where target = 'postgres'`);
    const next = page();
    await eventually(async () => {
      const { rowCount } = await warehouse.pool.query(
        `select from pg_locks where database = (select oid from pg_database where datname = current_database()) and not granted`,
      );
      return rowCount === 0 ? undefined : 'waits';
    });
    await other.query('rollback');
    expect(await next).toBe(first);
  } finally {
    other.release(true);
  }
});

test('pages are read one at a time, and requests for the same page share one reading', async () => {
  const said: string[] = [];
  const read = inTurns(async (asked: string) => {
    said.push(`${asked} begins`);
    await new Promise((resolve) => setTimeout(resolve, 20));
    said.push(`${asked} ends`);
    if (asked === 'b') throw new Error('no');
    return asked;
  });
  const results = await Promise.allSettled(['a', 'b', 'a', 'b', 'c'].map(read));
  expect(results.map((one) => (one.status === 'fulfilled' ? one.value : 'no'))).toEqual([
    'a',
    'no',
    'a',
    'no',
    'c',
  ]);
  expect(said).toEqual(['a', 'b', 'c'].flatMap((one) => [`${one} begins`, `${one} ends`]));
});

test('characters that turn the direction of writing, or control something, are escaped in the page, and can be chosen', async () => {
  const url = await openConsole(installation);
  const query = new URLSearchParams({ connection: crowded, currency: String.raw`C05\u202e\u0007` });
  const page = await (await fetch(`${url}/dashboard?${query.toString()}`)).text();
  const commands = /[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
  expect(commands.exec(page)?.[0]).toBeUndefined();
  const [, sentence] = /id="ap-ageing".*?data-sentence[^>]*>([^<]*)/s.exec(page) ?? [];
  expect(sentence).toContain(String.raw`C05\u202e\u0007 10 is owed`);
  expect(/v\\u2066\d+/.exec(page)?.[0]).toBe(String.raw`v\u20665`);
  const texts: string[] = [];
  JSON.parse(dataOf(page), (_, value: unknown) => (typeof value === 'string' ? texts.push(value) : value));
  expect(texts.filter((text) => commands.test(text))).toEqual([]);
  expect(findChoices(dashboard).currencies[crowded]).toContain(query.get('currency'));
});
