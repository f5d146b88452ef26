import { expect, test } from 'vitest';
import { platformNamed } from '../../sandbox/api/platforms.ts';
import { resourceNames } from '../../sandbox/api/resources.ts';
import { createRecordSources } from '../../sandbox/data/record-sources.ts';
import { splitRecords } from '../../sandbox/world/split-records.ts';

const asOf = Date.UTC(2025, 11, 31);

test("a new sandbox has a past: a lookback before a list's newest record finds only that record", () => {
  const sources = openSources('QUICKBOOKS');
  for (const name of resourceNames) {
    const source = sources[name];
    const { size } = source;
    const times = Array.from({ length: size }, (_, index) => source.lastSyncedAt(index));
    expect(times.at(-1), name).toBe(asOf);
    expect(times, name).toEqual([...times].sort((one, other) => one - other));
    expect(new Set(times).size, 'whole batches share one time').toBeLessThan(size / 10);
    const typeOf = (index: number): unknown => (JSON.parse(source.render(index, asOf)) as Typed).expense_type;
    for (const type of name === 'expenses' ? ['expense', 'refund'] : [undefined]) {
      const listed = times.filter((_, index) => typeOf(index) === type);
      const newest = Math.max(...listed);
      expect(listed.filter((time) => time >= newest - 29 * 60_000).length, `${name} ${type}`).toBe(1);
    }
  }
});

for (const [code, nameOf] of [
  ['QUICKBOOKS', (raw: Raw) => (raw.VendorRef ?? raw.EntityRef)?.name],
  ['NETSUITE', (raw: Raw) => raw.entity?.refName],
  ['XERO', (raw: Raw) => raw.Contact?.Name],
] as const)
  test(`the platform data of ${code} names each vendor of bills, credits and expenses, alike everywhere`, () => {
    const sources = openSources(code);
    const names = new Map<string, Set<string>>();
    for (const name of ['bills', 'bill_credit_memos', 'expenses'] as const)
      for (let index = 0; index < sources[name].size; index += 1) {
        const { vendor_id: vendor } = JSON.parse(sources[name].render(index, asOf)) as {
          vendor_id: string | null;
        };
        const told = nameOf(JSON.parse(sources[name].platformData(index)) as Raw);
        if (vendor === null) expect(told).toBeUndefined();
        else names.set(vendor, (names.get(vendor) ?? new Set()).add(told ?? '(none)'));
      }
    expect([...names.values()].every((told) => told.size === 1 && !told.has('(none)'))).toBe(true);
    expect(new Set([...names.values()].map(([only]) => only)).size).toBe(names.size);
    expect(names.size).toBeGreaterThan(20);
  });

test('the platform data names the accounts of documents and of their lines', () => {
  const sources = openSources('QUICKBOOKS');
  const names = new Map<string, Set<string>>();
  const see = (id: string, name: string | undefined): void => {
    names.set(id, (names.get(id) ?? new Set()).add(name ?? '(none)'));
  };
  for (const name of ['bills', 'bill_credit_memos', 'expenses'] as const)
    for (let index = 0; index < sources[name].size; index += 1) {
      const document = JSON.parse(sources[name].render(index, asOf)) as Posting;
      const raw = JSON.parse(sources[name].platformData(index)) as Raw;
      see(document.account_id, (raw.APAccountRef ?? raw.AccountRef)?.name);
      const accounts = document.line_items.flatMap(({ account_id: id }) => (id === null ? [] : [id]));
      expect(raw.Line?.length).toBe(accounts.length);
      accounts.forEach((id, position) => {
        see(id, raw.Line?.[position]?.AccountBasedExpenseLineDetail.AccountRef.name);
      });
    }
  expect([...names.values()].every((told) => told.size === 1 && !told.has('(none)'))).toBe(true);
  expect(new Set([...names.values()].map(([only]) => only)).size).toBe(names.size);
});

function openSources(code: string): ReturnType<typeof createRecordSources> {
  const platform = platformNamed(code);
  return createRecordSources({
    seed: 1,
    connection: 'acme',
    platform,
    asOf,
    counts: splitRecords(platform, 2_000),
  });
}

interface Typed {
  readonly expense_type?: string;
}

interface Posting {
  readonly account_id: string;
  readonly line_items: readonly { readonly account_id: string | null }[];
}

interface Reference {
  readonly name: string;
}

interface Raw {
  readonly VendorRef?: Reference;
  readonly EntityRef?: Reference;
  readonly entity?: { readonly refName: string };
  readonly Contact?: { readonly Name: string };
  readonly APAccountRef?: Reference;
  readonly AccountRef?: Reference;
  readonly Line?: readonly { readonly AccountBasedExpenseLineDetail: { readonly AccountRef: Reference } }[];
}
