import { expect, test } from 'vitest';
import { platformNamed } from '../../sandbox/api/platforms.ts';
import { createRecordSources } from '../../sandbox/data/record-sources.ts';
import { splitRecords } from '../../sandbox/world/split-records.ts';

const digitsOf: Record<string, number> = { USD: 2, EUR: 2, GBP: 2, JPY: 0, KWD: 3 };

for (const code of ['QUICKBOOKS', 'NETSUITE', 'XERO']) {
  const books = openBooks(code, 4_000, 7);

  test(`on ${code}, what is due on a bill is its total less payments and credits, to the last digit`, () => {
    for (const bill of books.bills) {
      const { minor } = bill;
      const settled = [...entries(bill, 'linked_payments'), ...entries(bill, 'linked_credit_memos')];
      const due = minor(bill.total_amount) - sum(settled.map((entry) => minor(entry.allocated_amount)));
      expect(minor(bill.amount_due), bill.id).toBe(due);
    }
  });

  test(`on ${code}, a bill's total is the sum of its lines less its discount, and a line is net plus tax`, () => {
    for (const bill of books.bills) {
      const { minor } = bill;
      const lines = entries(bill, 'line_items');
      const total = sum(lines.map((line) => minor(line.total_amount)));
      expect(minor(bill.total_amount), bill.id).toBe(total - minor(bill.total_discount));
      expect(minor(bill.total_amount), bill.id).toBe(
        minor(bill.sub_total) + minor(bill.tax_amount) - minor(bill.total_discount),
      );
      for (const line of lines) {
        expect(minor(line.total_amount), bill.id).toBe(minor(line.sub_total) + minor(line.tax_amount));
        if (line.item) {
          const item = line.item as Entry;
          const gross = toMinor(item.quantity, 2) * minor(item.unit_amount);
          expect(100n * (minor(line.sub_total) + minor(line.discount_amount)), bill.id).toBe(gross);
        }
      }
    }
  });

  test(`on ${code}, the status of a bill follows from what is due`, () => {
    for (const bill of books.bills) {
      const [due, total] = [bill.minor(bill.amount_due), bill.minor(bill.total_amount)];
      if (bill.status === 'paid') expect(due, bill.id).toBe(0n);
      else if (bill.status === 'partially_paid') expect(due > 0n && due < total, bill.id).toBe(true);
      else expect(due, bill.id).toBe(total);
    }
    expect(new Set(books.bills.map(({ status }) => status)).size).toBeGreaterThanOrEqual(6);
  });

  test(`on ${code}, the remainder of a credit memo is its total less what was applied, and its lines add up`, () => {
    for (const memo of books.memos) {
      const { minor } = memo;
      const applied = sum(entries(memo, 'linked_bills').map((entry) => minor(entry.allocated_amount)));
      expect(minor(memo.remaining_amount), memo.id).toBe(minor(memo.total_amount) - applied);
      expect(sum(entries(memo, 'line_items').map((line) => minor(line.total_amount))), memo.id).toBe(
        minor(memo.total_amount),
      );
    }
  });

  test(`on ${code}, a credit is the same seen from the bill and from the memo`, () => {
    const seen = (
      documents: readonly Document[],
      list: string,
      key: (document: Document, entry: Entry) => string,
    ) =>
      documents
        .flatMap((document) =>
          entries(document, list).map(
            (entry) => `${key(document, entry)} ${entry.allocated_amount as string}`,
          ),
        )
        .sort();
    const fromBills = seen(
      books.bills,
      'linked_credit_memos',
      (bill, entry) => `${bill.id} ${entry.id as string}`,
    );
    const fromMemos = seen(books.memos, 'linked_bills', (memo, entry) => `${entry.id as string} ${memo.id}`);
    expect(fromBills).toEqual(fromMemos);
    expect(fromBills.length).toBeGreaterThan(50);
  });

  test(`on ${code}, no document is younger than the first sync`, () => {
    for (const document of [...books.bills, ...books.memos, ...books.expenses]) {
      for (const field of ['issue_date', 'transaction_date', 'created_at', 'updated_at']) {
        const value = document[field];
        if (typeof value === 'string')
          expect(value < '2025-12-31', `${document.id} ${field} ${value}`).toBe(true);
      }
    }
  });
}

test('the books contain several currencies, refunds, missing times and bills with several lines', () => {
  const { bills, expenses } = openBooks('QUICKBOOKS', 4_000, 7);
  expect(new Set(bills.map(({ currency_code }) => currency_code))).toEqual(
    new Set(['USD', 'EUR', 'GBP', 'JPY', 'KWD']),
  );
  expect(expenses.filter(({ expense_type }) => expense_type === 'refund').length).toBeGreaterThan(30);
  expect(bills.filter(({ updated_at }) => updated_at === null).length).toBeGreaterThan(10);
  expect(
    bills.filter(({ document_number }) => String(document_number).startsWith('inv ')).length,
  ).toBeGreaterThan(5);
  const lines = bills.reduce((count, bill) => count + entries(bill, 'line_items').length, 0);
  expect(lines / bills.length).toBeCloseTo(4, 0);
});

test('the same seed gives the same books, and another seed gives others', () => {
  expect(openBooks('XERO', 300, 1).texts).toEqual(openBooks('XERO', 300, 1).texts);
  expect(openBooks('XERO', 300, 1).texts).not.toEqual(openBooks('XERO', 300, 2).texts);
});

test('an ID can be turned back into the index of its record, and other text cannot', () => {
  const { sources } = openBooks('QUICKBOOKS', 300, 1);
  const { ids } = sources.bills;
  for (const index of [0, 1, 149, 999_999]) expect(ids.indexOf(ids.at(index))).toBe(index);
  for (const text of ['', 'x', sources.expenses.ids.at(3), ids.at(3).toUpperCase()])
    expect(ids.indexOf(text)).toBeNull();
});

function openBooks(code: string, records: number, seed: number): Books {
  const platform = platformNamed(code);
  const counts = splitRecords(platform, records);
  const asOf = Date.UTC(2025, 11, 31);
  const sources = createRecordSources({ seed, connection: 'acme', platform, asOf, counts });
  const texts = (['bills', 'bill_credit_memos', 'expenses'] as const).map((name) =>
    Array.from({ length: sources[name].size }, (_, index) => sources[name].render(index, asOf)),
  );
  const [bills = [], memos = [], expenses = []] = texts.map((list) => list.map(readDocument));
  return { sources, texts, bills, memos, expenses };
}

/** Keeps numbers as the text that was sent, so that no amount goes through floating point. */
function readDocument(text: string): Document {
  const quoted = text.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) =>
    token.startsWith('"') ? token : `"${token}"`,
  );
  const document = JSON.parse(quoted) as Document;
  const digits = digitsOf[String(document.currency_code)];
  return { ...document, minor: (amount) => toMinor(amount, digits ?? fractionDigits(document.total_amount)) };
}

function fractionDigits(amount: unknown): number {
  return String(amount).split('.')[1]?.length ?? 0;
}

function toMinor(amount: unknown, digits: number): bigint {
  if (amount === null) return 0n;
  if (typeof amount !== 'string') throw new Error('An amount is a number or null.');
  expect(fractionDigits(amount), amount).toBe(digits);
  return BigInt(amount.replace('.', ''));
}

function entries(document: Document, list: string): Entry[] {
  return document[list] as Entry[];
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}

type Entry = Readonly<Record<string, unknown>>;

interface Document extends Entry {
  readonly id: string;
  readonly minor: (amount: unknown) => bigint;
}

interface Books {
  readonly sources: ReturnType<typeof createRecordSources>;
  readonly texts: readonly string[][];
  readonly bills: readonly Document[];
  readonly memos: readonly Document[];
  readonly expenses: readonly Document[];
}
