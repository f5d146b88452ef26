import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { streams } from '../../resources/index.ts';
import { calculate, type Calculated, type Value } from './calculate.ts';
import type { CalculatorBook } from './load-book.ts';

const page = await readFile(new URL('../../docs/numbers.md', import.meta.url), 'utf8');
const calculated = await calculate({
  now: '2026-11-22T12:00:00Z',
  time_zone: 'UTC',
  fx_rates: [],
  books: [bookOnPage()],
});

test('the page has more than 30 examples of figures', () => {
  expect(examples().length).toBeGreaterThan(30);
});

test.each(examples())('docs/numbers.md: $column is $result', ({ column, result }) => {
  const decimals = result.split('.')[1]?.length ?? 0;
  expect(sumColumn(calculated, column).toFixed(decimals)).toBe(result);
});

/** Rows of tables that have a result in bold, with the mart column they show. */
function examples(): { column: string; result: string }[] {
  return page.split('\n').flatMap((line) => {
    const cells = line.split('|').map((cell) => cell.trim());
    const [, , , here = '', column = ''] = cells;
    const [, result] = /\*\*(-?[\d.]+)\*\*/.exec(here) ?? [];
    return result === undefined ? [] : [{ column: column.replaceAll('`', ''), result }];
  });
}

/** Sums the column of `mart.column where is_today and currency_code = USD`. The page's whole numbers and ratios are small. */
function sumColumn(marts: Calculated, asked: string): number {
  const [, mart = '', column = '', conditions] = /^(\w+)\.(\w+)(?: where (.+))?$/.exec(asked) ?? [];
  const wanted = (conditions ?? '').split(' and ').filter((one) => one !== '');
  const rows = (marts[mart] ?? []).filter((row) => wanted.every((condition) => holds(row, condition)));
  const values = rows.map((row) => row[column]).filter((value) => value !== null);
  if (values.length === 0) throw new Error(`Nothing on the page is in ${asked}.`);
  return values.reduce<number>((sum, value) => sum + Number(value), 0);
}

function holds(row: Readonly<Record<string, Value>>, condition: string): boolean {
  const [name = '', value] = condition.split(' = ');
  return value === undefined ? row[name] === true : String(row[name]) === value;
}

function bookOnPage(): CalculatorBook {
  const records = Object.fromEntries(
    [...page.matchAll(/```json (\w+)\n([\s\S]*?)\n```/g)].map(([, resource = '', lines = '']) => [
      resource,
      lines.split('\n'),
    ]),
  );
  const recorded_at = '2026-11-01T00:00:00Z';
  const versions = (records.subscriptions ?? []).map((payload) => {
    const { id } = JSON.parse(payload) as { id: string };
    return { record_id: id, recorded_at, op: 'upsert' as const, payload };
  });
  return {
    connection_id: 'page',
    platform: 'QUICKBOOKS',
    records,
    deleted: {},
    settings: null,
    pruned_until: null,
    is_first_prune: false,
    subscription_versions: versions,
    observed_months: ['2026-11-01'],
    unobserved_months: [],
    observed_until: {},
    waiting: {},
    streams: streams.map(({ stream, resource }) => ({
      ...{ stream: stream.name, resource: resource.name, capability: 'supported' },
      ...{
        watermark: null,
        last_success_at: '2026-11-22 11:00:00+00',
        last_reconcile_at: null,
        stalled_at: null,
      },
    })),
    connection: { org_id: null, created_at: '2026-11-01' },
    vendor_names: {},
    account_map: {},
  };
}
