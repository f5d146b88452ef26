import { expect, test } from 'vitest';
import { notesOf } from '../../server/dashboard/views/headline.tsx';
import { readDashboard } from '../../server/dashboard/read-dashboard.ts';
import { buildInPostgres } from '../books/check-books.ts';
import { withBooks } from '../books/shelf.ts';
import {
  billOf,
  changed,
  creditOf,
  subscriptionOf,
  worked,
  workedOn,
  type WorkedBook,
} from '../books/worked-book.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { url } = await createTestDatabase();

test('what a figure lacks is told beside it, and a figure that cannot be made is not shown', async () => {
  const books = [...nameless(), twoCurrencies(), manyVendors(), notObserved(), oddDocuments()];
  const input = { databaseUrl: url, now: workedOn, timeZone: 'UTC', books: books.map(({ book }) => book) };
  await withBooks(input, async (shelf) => {
    await buildInPostgres(shelf);
    await shelf.warehouse.pool.query(
      `insert into sync.marts (target, run_id, as_of_date, marts, begun_at) values ('postgres', 'built', $1, 24, now())`,
      [shelf.today],
    );
    const dashboard = await readDashboard(shelf.warehouse);
    const seen = (id: string, connection: string, currency: string) =>
      dashboard.charts
        .find((chart) => chart.id === id)
        ?.views.find((view) => view.connection === connection && view.currency === currency);

    // Amounts without a currency may be of several: companies have no sum of them.
    expect(seen('key-figures', '', '')).toBeUndefined();
    expect(seen('key-figures', 'dollars', '')?.sentence).toContain('1,000');
    expect(seen('key-figures', 'dollars', 'NZD')?.gap).toContain(
      '2 documents without a currency are in no figure of any',
    );

    // A pair of two currencies is of both, each amount in its own.
    expect(seen('duplicates', 'two-currencies', 'NZD')?.rows[0]?.slice(3, 5)).toEqual(['10.00', 'SGD 9.00']);
    expect(seen('duplicates', 'two-currencies', 'SGD')?.rows[0]?.slice(3, 5)).toEqual(['NZD 10.00', '9.00']);

    // The vendor with most open comes first, whatever it owes back.
    expect(seen('ap-ageing', 'many-vendors', 'NZD')?.rows[0]?.[0]).toBe('Vendor big');

    const unobserved = seen('key-figures', 'not-observed', 'NZD');
    expect(unobserved?.rows.at(-1)).toEqual([
      ...['Monthly recurring revenue', 'not known'],
      'of active subscriptions; this month was not observed yet',
    ]);
    expect(unobserved?.gap).toBe('This month was not observed yet: recurring revenue is “not known”.');

    // A fee is due beside the total; a discount is settled, and nobody knows when.
    expect(seen('ap-trend', 'odd-documents', 'NZD')?.gap).toBe(
      [
        '1 credit of an unknown status is left out (remaining 30.00)',
        '1 bill with an amount that no payment or credit explains is told in the past without it (together 2.00)',
        '1 bill of which more is due than payments and credits leave is told with it on past days too (together 10.00).',
      ].join('; '),
    );
    for (const id of ['key-figures', 'ap-ageing', 'cash-requirements'])
      expect(seen(id, 'odd-documents', 'NZD')?.gap, id).toContain(
        '1 credit of an unknown status is left out',
      );
  });
});

test('how old marts are is told from when they were built, not from the day that they speak of', () => {
  // Built at 23:00 of 22 November in Los Angeles, and read 17 hours later.
  const built = { status: 'complete', built_at: new Date('2026-11-23T07:00:00Z') };
  const readOn = (moment: string): string[] =>
    notesOf({
      ...{ asOf: '2026-11-22', readAt: new Date(moment), connections: [], charts: [], catalogue: [] },
      build: built as Parameters<typeof notesOf>[0]['build'],
    });
  expect(readOn('2026-11-24T00:00:00Z')).toEqual([]);
  expect(readOn('2026-11-25T08:00:00Z')).toEqual([expect.stringContaining('2 days old')]);
});

function nameless(): WorkedBook[] {
  const november = { issue_date: '2026-11-01', currency_code: null };
  return [
    worked(
      'dollars',
      {
        0: [
          billOf('x', { ...november, total_amount: 1000 }),
          creditOf('y', { ...november, total_amount: 30 }),
          billOf('known', { issue_date: '2026-11-01', total_amount: 5 }),
        ],
      },
      {},
    ),
    worked('yen', { 0: [billOf('z', { ...november, total_amount: 150_000 })] }, {}),
  ];
}

function twoCurrencies(): WorkedBook {
  const alike = { document_number: 'INV-77' };
  return worked(
    'two-currencies',
    {
      0: [
        billOf('one', { ...alike, issue_date: '2026-01-05', total_amount: 10 }),
        billOf('two', { ...alike, issue_date: '2026-09-05', total_amount: 9, currency_code: 'SGD' }),
      ],
    },
    {},
  );
}

function manyVendors(): WorkedBook {
  const november = { issue_date: '2026-11-01' };
  const small = Array.from({ length: 16 }, (_, index) =>
    billOf(`small-${index}`, { ...november, vendor_id: `small-${index}`, total_amount: 10 }),
  );
  return worked(
    'many-vendors',
    {
      0: [
        billOf('big', { ...november, vendor_id: 'big', total_amount: 1000 }),
        creditOf('big-credit', { ...november, vendor_id: 'big', total_amount: 1000 }),
        ...small,
      ],
    },
    {},
  );
}

function notObserved(): WorkedBook {
  return worked(
    'not-observed',
    { 1: [subscriptionOf('s1', 'c1', 100)], 0: [changed('s1', { status: 'active' })] },
    {},
    { 1: 'complete', 0: 'incomplete' },
  );
}

function oddDocuments(): WorkedBook {
  return worked(
    'odd-documents',
    {
      0: [
        creditOf('odd', { issue_date: '2026-01-05', total_amount: 30, status: 'pending_approval' }),
        billOf('fee', { issue_date: '2026-09-01', total_amount: 100, amount_due: 110 }),
        billOf('discounted', {
          ...{ issue_date: '2026-10-01', total_amount: 100, amount_due: 0, status: 'paid' },
          linked_payments: [{ id: 'p1', allocated_date: '2026-11-10', allocated_amount: 98 }],
        }),
      ],
    },
    {},
  );
}
