import { expect, test } from 'vitest';
import { findChoices, resolveChoice } from '../../server/dashboard/choices.ts';
import { findView } from '../../server/dashboard/find-view.ts';
import { notesOf } from '../../server/dashboard/views/headline.tsx';
import { readDashboard } from '../../server/dashboard/read-dashboard.ts';
import { buildInPostgres } from '../books/check-books.ts';
import { withBooks, type BooksFixture } from '../books/books-fixture.ts';
import {
  addBill,
  changeSubscription,
  addCredit,
  addExpense,
  deleteSubscription,
  monthlyItem,
  addSubscription,
  worked,
  workedOn,
  type Values,
  type WorkedBook,
} from '../books/worked-book.ts';
import { billingAlone, billingNotAsked } from '../books/worked-records.ts';
import {
  afterUtcMonthEnd,
  beforeUtcMonthEnd,
  workedAfterUtcMonthEnd,
  workedBeforeUtcMonthEnd,
} from '../books/worked-ahead-of-utc.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { url } = await createTestDatabase();
const { url: urlOfOne } = await createTestDatabase();

test('every figure says what it lacks, and a figure that cannot be calculated is not shown', async () => {
  const books = [
    ...[...nameless(), twoCurrencies(), manyVendors(), notObserved(), oddDocuments()],
    ...[unknownAlone(), netted(), settlements(), feeOncePaid(), noMoreIsDue(), creditedSomeDay()],
    ...[undatedUnknown(), awaitingDeletion(), creditGone(), creditedLater(), accountNumber()],
    ...[usedUp(), creditAlone(), dailyBills(), crowdedWeek(), cardPaidOff(), cards()],
    thisMonth(),
  ];
  const input = { databaseUrl: url, now: workedOn, timeZone: 'UTC', books: books.map(({ book }) => book) };
  await withBooks(input, async (books) => {
    await buildInPostgres(books);
    await books.warehouse.pool.query(
      `insert into sync.marts (target, run_id, as_of_date, marts, begun_at) values ('postgres', 'built', $1, 24, now())`,
      [books.today],
    );
    const dashboard = await readDashboard(books.warehouse);
    const seen = (id: string, connection: string, currency: string) =>
      dashboard.charts
        .find((chart) => chart.id === id)
        ?.views.find((view) => view.connection === connection && view.currency === currency);

    const tile = (connection: string, name: string) =>
      seen('key-figures', connection, 'NZD')
        ?.rows.find(([title]) => title === name)
        ?.slice(1) ?? [];

    // Amounts without a currency may be of several, so companies have no sum of them.
    expect(seen('key-figures', '', '')).toBeUndefined();
    expect(seen('key-figures', 'dollars', '')?.sentence).toContain('1,000');
    for (const id of ['key-figures', 'ap-ageing', 'ap-trend', 'cash-requirements', 'spend-by-month'])
      expect(seen(id, 'dollars', 'NZD')?.gap, id).toContain(
        '2 documents without a currency are in no figure of any',
      );
    // Nothing is in this currency, and something has no currency.
    expect(seen('ap-ageing', 'euros', 'NZD')?.sentence).toBe(
      '1 document has no currency: choose “without a currency” to see what is known.',
    );

    // This currency has only bills of an unknown status.
    expect(seen('key-figures', 'unknown-alone', 'PLN')?.sentence).toBe('PLN 0.00 is open in 0 bills.');
    for (const [id, left] of [
      ['key-figures', '1 bill of an unknown status is left out (amount due 1,000,000.00)'],
      ['ap-ageing', '1 bill of an unknown status is left out (amount due 1,000,000.00)'],
      ['ap-trend', '1 bill of an unknown status is left out (amount due 1,000,000.00)'],
      ['cash-requirements', '1 bill of an unknown status is left out (amount due 1,000,000.00)'],
      ['spend-by-month', '1 document of an unknown status is left out (spend 1,000,000.00)'],
      ['spend-by-vendor', '1 document of an unknown status is left out (spend 1,000,000.00)'],
    ] as const)
      for (const connection of ['unknown-alone', ''])
        expect(seen(id, connection, 'PLN')?.gap, `${id} ${connection}`).toContain(left);
    // The month of this spend is unknown.
    expect(seen('spend-by-month', 'unknown-alone', 'NZD')?.gap).toContain(
      '1 document of an unknown status is left out (spend 5,000.00)',
    );

    // Amounts above and below 0 do not hide each other.
    expect(seen('ap-ageing', 'netted', 'NZD')?.gap).toBe(
      '2 bills of an unknown status are left out (amount due 1,000.00 and -1,000.00).',
    );
    expect(seen('spend-by-month', 'netted', 'NZD')?.gap).toContain(
      '2 documents without a date are left out (spend 700.00 and -700.00)',
    );
    expect(seen('key-figures', 'netted', 'NZD')?.sentence).toBe(
      'NZD 751.00 is open in 2 bills and 1 credit below 0.',
    );

    // A payment of Wednesday leaves the due amount. An undated payment settles on an unknown day.
    expect(seen('ap-trend', 'settlements', 'NZD')?.gap).toBe(
      '1 bill with payments or credits without a date is shown as settled with them on every day (together 5,000.00).',
    );

    // The fee is open at the end of October, but not of September, when the bill was open. The paid part is not due.
    expect(seen('ap-trend', 'fee-once-paid', 'NZD')?.gap).toBe(
      '1 bill of which more is due than payments and credits leave is shown with it at past month ends, although it is unknown since when (together 10.00).',
    );
    expect(seen('ap-trend', 'no-more-is-due', 'NZD')?.sentence).toContain('NZD 0.00 is open today');
    expect(seen('ap-trend', 'no-more-is-due', 'NZD')?.gap).toBeUndefined();
    // It makes no difference that only the vendor credit tells of it.
    expect(seen('ap-trend', 'credited-some-day', 'NZD')?.gap).toBe(
      '1 bill with payments or credits without a date is shown as settled with them on every day (together 30.00).',
    );

    // No past month end has a bill of this month or of a later one.
    expect(seen('ap-trend', 'this-month', 'NZD')?.gap).toBe(
      '1 bill with an amount that no payment or credit explains is shown without it in past months (together 2.00).',
    );

    // The known part of the sum is shown beside the unknown one.
    expect(seen('ap-trend', 'undated-unknown', 'NZD')?.gap).toBe(
      '3 bills with payments or credits without a date are shown as settled with them on every day (together 30.00 and 2 unknown amounts).',
    );

    // Deletions that wait for approval are shown at each figure that includes them, with their part of it.
    const found = 'that a reconcile found gone at the source';
    const isDue = `1 document ${found} is counted until somebody approves the deletion (due 10.00)`;
    const ahead = (documents: string, amount: string): string =>
      `${documents} dated ahead ${found} ${documents.startsWith('1 ') ? 'is' : 'are'} counted until somebody approves the deletion (dated ahead ${amount})`;
    expect(seen('cash-requirements', 'awaiting', 'NZD')?.gap).toBe(
      `${isDue}; ${ahead('2 documents', '507.00')}.`,
    );
    const revenue = (amount: string): string =>
      `1 subscription ${found} is counted until somebody approves the deletion (revenue this month ${amount})`;
    expect(seen('key-figures', 'awaiting', 'NZD')?.gap).toBe(
      `${isDue}; ${ahead('1 document', '500.00')}; ${revenue('600.00')}.`,
    );
    for (const connection of ['awaiting', '']) {
      expect(seen('recurring-revenue', connection, 'NZD')?.gap, connection).toContain(revenue('600.00'));
      expect(seen('recurring-revenue', connection, 'VND')?.gap, connection).toContain(revenue('5'));
    }
    expect(seen('recurring-revenue', 'awaiting', 'NZD')?.rows.at(-1)?.at(-1)).toBe('1,000.00');
    expect(seen('ap-ageing', 'awaiting', 'NZD')?.gap).toBe(`${isDue}.`);
    expect(seen('ap-trend', 'awaiting', 'NZD')?.gap).toBe(
      `${isDue}; 1 partly settled document ${found} is counted at past month ends until somebody approves the deletion (open then 100.00).`,
    );
    expect(seen('ap-trend', 'awaiting', 'SGD')?.gap).toBe(
      `1 settled document ${found} is counted at past month ends until somebody approves the deletion (open then 60.00).`,
    );

    // Amounts owed back are in today's figures, and reduce no month end.
    const isOwedBack = `1 document ${found} is counted until somebody approves the deletion (due -30.00).`;
    expect(seen('ap-ageing', 'credit-gone', 'NZD')?.gap).toBe(isOwedBack);
    expect(seen('ap-trend', 'credit-gone', 'NZD')?.gap).toBeUndefined();
    expect(seen('ap-ageing', 'awaiting', 'SGD')?.gap).toContain('(due -20.00)');

    // Nobody pays the amount that a credit settles later.
    expect(seen('cash-requirements', 'credited-later', 'NZD')?.gap).toBe(
      'Credits settle 160.00 of it from a later day on, which is due until then and not expected to be paid.',
    );
    expect(tile('credited-later', 'Due within 14 days')).toEqual([
      ...['40.00', 'today included; 40.00 of it dated ahead'],
    ]);
    expect(tile('credited-later', 'Overdue')[0]).toBe('100.00');
    for (const [name, more] of [
      ['Open bills', '1 bill; credits settle 100.00 of it from a later day on'],
      ['Overdue', '100.0 % of what is to be paid; credits settle 100.00 of it from a later day on'],
    ] as const)
      expect(tile('credited-later', name), name).toEqual(['100.00', more]);
    expect(seen('cash-requirements', 'awaiting', 'NZD')?.gap).not.toContain('settle');

    // A credit that settles a bill dated ahead is used up: the part that it settles is not due, and it cannot settle anything else.
    expect(seen('cash-requirements', 'used-up', 'NZD')?.sentence).toBe(
      'NZD 0.00 is overdue, 250.00 of open bills falls due within 7 days; 5.00 of credits is not applied yet.',
    );
    expect(tile('used-up', 'Due within 14 days')[0]).toBe('250.00');
    expect(tile('used-up', 'Unapplied credits')).toEqual([
      '-105.00',
      'and bills below 0 or overpaid; not taken off open bills; 100.00 of it settles bills from a later day on, and cannot be taken off what is due within 14 days',
    ]);
    expect(tile('credit-alone', 'Unapplied credits')).toEqual([
      ...['-30.00', 'and bills below 0 or overpaid; not taken off open bills'],
    ]);
    // Nothing is due that a credit could settle.
    expect(seen('cash-requirements', 'credit-alone', 'NZD')).toMatchObject({
      sentence:
        'NZD 0.00 is overdue, 0.00 of open bills falls due within 7 days; 30.00 of credits is not applied yet.',
      gap: undefined,
    });

    // Not every two of many documents are a pair.
    expect(seen('duplicates', 'account-number', 'NZD')).toMatchObject({
      sentence: '175 pairs deserve a look; the first 25 are here.',
      gap: '23 documents are alike, and each is paired with its nearest alone: more pairs than are counted may be one purchase.',
    });
    expect(seen('duplicates', 'two-currencies', 'NZD')?.gap).toBeUndefined();
    // 15 daily bills lie within 7 days of one of them, but never more than 8 on one side, so each pair is listed.
    expect(seen('duplicates', 'daily-bills', 'NZD')).toMatchObject({
      sentence: '182 pairs deserve a look; the first 25 are here.',
      gap: undefined,
    });
    // The first and the last of 12 within 7 days are not a pair.
    expect(seen('duplicates', 'crowded-week', 'NZD')).toMatchObject({
      sentence: '65 pairs deserve a look; the first 25 are here.',
      gap: '12 documents are alike, and each is paired with its nearest alone: more pairs than are counted may be one purchase.',
    });

    // Two expenses are not a pair, and the page does not claim that nothing is there twice.
    expect(seen('duplicates', 'cards', 'NZD')).toBeUndefined();
    const duplicates = dashboard.charts.find(({ id }) => id === 'duplicates');
    expect(duplicates?.empty).toBe('No bill looks like one purchase with another bill or with an expense.');
    expect(duplicates?.about).toContain('two expenses are never compared');

    // A card payment counts as spend a second time, in each chart that includes it.
    const paysOff = (documents: string, amount: string): string =>
      `${documents} with lines on an account that bills are owed on or expenses are paid from ${documents.startsWith('1 ') ? 'is' : 'are'} in spend, perhaps a second time (those lines ${amount}).`;
    for (const [id, gap] of [
      ['key-figures', paysOff('2 documents', '170.00')],
      ['spend-by-month', paysOff('2 documents', '170.00')],
      ['spend-by-vendor', paysOff('1 document', '100.00')],
    ] as const)
      expect(seen(id, 'card-paid-off', 'NZD')?.gap, id).toBe(gap);

    // A pair in two currencies belongs to both, each amount in its own.
    expect(seen('duplicates', 'two-currencies', 'NZD')?.rows[0]?.slice(3, 5)).toEqual(['10.00', 'SGD 9.00']);
    expect(seen('duplicates', 'two-currencies', 'SGD')?.rows[0]?.slice(3, 5)).toEqual(['NZD 10.00', '9.00']);

    // The vendor with the largest open amount comes first, whatever it owes back.
    expect(seen('ap-ageing', 'many-vendors', 'NZD')?.rows[0]?.[0]).toBe('Vendor big');

    const unobserved = seen('key-figures', 'not-observed', 'NZD');
    expect(unobserved?.rows.at(-1)).toEqual([
      ...['Monthly recurring revenue', 'not known'],
      'of active subscriptions; this month was not observed yet',
    ]);
    expect(unobserved?.gap).toBe('This month was not observed yet: recurring revenue is “not known”.');

    // A fee is due beside the total. A discount was settled on an unknown day.
    expect(seen('ap-trend', 'odd-documents', 'NZD')?.gap).toBe(
      [
        '1 credit of an unknown status is left out (remaining 30.00)',
        '1 bill with an amount that no payment or credit explains is shown without it in past months (together 2.00)',
        '1 bill of which more is due than payments and credits leave is shown with it at past month ends, although it is unknown since when (together 10.00).',
      ].join('; '),
    );
    for (const id of ['key-figures', 'ap-ageing', 'cash-requirements'])
      expect(seen(id, 'odd-documents', 'NZD')?.gap, id).toContain(
        '1 credit of an unknown status is left out',
      );
  });
});

test('a company whose documents have no currency is shown by itself, and the view of all companies says where to look', async () => {
  const november = { issue_date: '2026-11-01', due_date: '2026-11-20' };
  const books = ['one', 'two'].map((name) =>
    worked(name, { 0: [addBill('bill', { ...november, total_amount: 1000 })] }, {}),
  );
  const input = {
    databaseUrl: urlOfOne,
    now: workedOn,
    timeZone: 'UTC',
    books: books.map(({ book }) => book),
  };
  await withBooks(input, async (books) => {
    const { warehouse } = books;
    // The sandbox gives each company its own records.
    for (const table of ['bills', 'expenses', 'bill_credit_memos'])
      await warehouse.pool.query(`update finance.${table} set currency_code = null`);
    await warehouse.pool.query(`delete from history.record_versions where resource = 'subscriptions'`);
    await buildInPostgres(books);
    await warehouse.pool.query(
      `insert into sync.marts (target, run_id, as_of_date, marts, begun_at) values ('postgres', 'built', $1, 24, now())`,
      [books.today],
    );
    const dashboard = await readDashboard(warehouse);
    const choices = findChoices(dashboard);
    expect(resolveChoice(choices, new URLSearchParams())).toEqual({ connection: 'one', currency: '' });
    const all = resolveChoice(choices, new URLSearchParams('connection='));
    expect(all).toEqual({ connection: '', currency: '' });
    const isMoney = (id: string): boolean =>
      !['data-quality', 'sync-health', 'recurring-revenue'].includes(id);
    for (const chart of dashboard.charts.filter(({ id }) => isMoney(id)))
      expect(findView(chart, all)?.sentence, chart.id).toMatch(
        /^\d+ documents of 2 companies have no currency: choose a connection to see what is known\.$/,
      );
    const alone = findChoices({ ...dashboard, connections: dashboard.connections.slice(0, 1) });
    expect(alone.connections).toEqual(['one']);
    expect(resolveChoice(alone, new URLSearchParams('connection='))).toEqual({
      connection: 'one',
      currency: '',
    });
  });
});

test('a connection whose lists are not known yet may lack spend, and one that offers no spend lacks nothing', async () => {
  const { url: databaseUrl } = await createTestDatabase();
  const october = [addBill('b', { issue_date: '2026-10-05', total_amount: 100 })];
  const books = [
    ...[billingAlone(), billingNotAsked()],
    worked('whole', { 0: october }, {}, { readDaysAgo: 0 }),
    // Last read on October 15.
    worked('part', { 0: october }, {}, { readDaysAgo: 38 }),
  ].map(({ book }) => book);
  await withBooks({ databaseUrl, now: workedOn, timeZone: 'UTC', books }, async (books) => {
    await buildInPostgres(books);
    await books.warehouse.pool.query(
      `insert into sync.marts (target, run_id, as_of_date, marts, begun_at) values ('postgres', 'built', $1, 24, now())`,
      [books.today],
    );
    const { charts } = await readDashboard(books.warehouse);
    const seen = (id: string, connection: string) =>
      charts
        .find((chart) => chart.id === id)
        ?.views.find((view) => view.connection === connection && view.currency === 'NZD');
    const october = 'Oct 2026 was not read to its end: more may have been spent.';
    expect(seen('key-figures', '')?.gap).toBe(
      'Oct 2026 of billing-not-asked and Oct 2026 of part were not read to their end: more may have been spent.',
    );
    expect(seen('key-figures', 'billing-not-asked')?.gap).toBe(october);
    expect(seen('spend-by-month', 'part')?.gap).toBe(october);
    for (const connection of ['whole', 'billing-alone'])
      expect(seen('key-figures', connection)?.gap, connection).toBeUndefined();
    const heads = seen('spend-by-month', 'whole')?.columns.map(({ head }) => head);
    expect(heads?.join()).not.toContain('read in part');
  });
});

test('a month of recurring revenue that is not over in UTC says so once the next one has begun locally', async () => {
  const { url: databaseUrl } = await createTestDatabase();
  const books = workedBeforeUtcMonthEnd().map(({ book }) => book);
  const input = { databaseUrl, now: beforeUtcMonthEnd, timeZone: 'Pacific/Auckland', books };
  await withBooks(input, async (books) => {
    await buildInPostgres(books);
    const { revenue } = await recurringIn(books, beforeUtcMonthEnd);
    expect(revenue?.gap).toBe(
      'Nov 2026 is not over in UTC, in which months of recurring revenue are: it may still change.',
    );
  });
});

test('a month that is over in UTC is not shown as going on, whenever subscriptions were last read', async () => {
  const { url: databaseUrl } = await createTestDatabase();
  const books = workedAfterUtcMonthEnd().map(({ book }) => book);
  const input = { databaseUrl, now: afterUtcMonthEnd, timeZone: 'Pacific/Auckland', books };
  await withBooks(input, async (books) => {
    await buildInPostgres(books);
    expect((await recurringIn(books, afterUtcMonthEnd, 'not-read-since')).revenue?.gap).toBeUndefined();
    expect((await recurringIn(books, afterUtcMonthEnd)).revenue?.gap).toBeUndefined();
  });
});

test('revenue read today in a zone ahead of UTC is shown as of today, and revenue read before as of that day', async () => {
  const { url: databaseUrl } = await createTestDatabase();
  // It is 09:00 of November 15 in Auckland.
  const now = '2026-11-14T20:00:00Z';
  const read = { 1: 'complete', 0: 'complete' } as const;
  const books = [
    worked('read-now', { 1: [addSubscription('s1', 'c1', 100)] }, {}, { ...read }),
    worked(
      'read-before',
      { 1: [addSubscription('s1', 'c1', 100)] },
      {},
      { ...read, observedUntil: { 0: 13 } },
    ),
  ].map(({ book }) => book);
  await withBooks({ databaseUrl, now, timeZone: 'Pacific/Auckland', books }, async (books) => {
    await buildInPostgres(books);
    const fresh = await recurringIn(books, now, 'read-now');
    expect(fresh.revenue?.sentence).toBe(
      'NZD 100.00 on 15 Nov 2026 (the month is not over), from 100.00 at its beginning.',
    );
    expect(fresh.tile).toBe('of active subscriptions');
    const stale = await recurringIn(books, now, 'read-before');
    expect(stale.revenue?.sentence).toContain('on 13 Nov 2026, when subscriptions were last read');
    expect(stale.tile).toBe('of active subscriptions, as last read on 13 Nov');
  });
});

test('recurring revenue of all connections begins with the first month that was observed of each', async () => {
  const { url: databaseUrl } = await createTestDatabase();
  const read = { 3: 'complete', 2: 'complete', 1: 'complete', 0: 'complete' } as const;
  const books = [
    worked(
      'old',
      { 3: [addSubscription('s1', 'c1', 100), addSubscription('s2', 'c2', 7, 'SGD')] },
      {},
      { ...read },
    ),
    worked(
      'new',
      { 2: [addSubscription('s1', 'c1', 1000)], 1: [addSubscription('s2', 'c2', 5, 'SGD')] },
      {},
      { 2: 'complete', 1: 'complete', 0: 'complete' },
    ),
  ].map(({ book }) => book);
  await withBooks({ databaseUrl, now: workedOn, timeZone: 'UTC', books }, async (books) => {
    await buildInPostgres(books);
    const { revenue: all } = await recurringIn(books, workedOn, '');
    expect(all?.rows.map((row) => [row[0], row[1], row.at(-1)])).toEqual([
      ...[['Sep 2026', '1,100.00', '1,100.00'] as const, ['Oct 2026', '1,100.00', '1,100.00'] as const],
      ['Nov 2026', '1,100.00', '1,100.00'],
    ]);
    expect(all?.gap).toBe(
      'All connections are added up from Sep 2026 on, the first month that was observed of new: choose a connection for the months before.',
    );
    const { revenue: old } = await recurringIn(books, workedOn, 'old');
    expect(old?.rows.map(([month]) => month)).toEqual(['Aug 2026', 'Sep 2026', 'Oct 2026', 'Nov 2026']);
    expect(old?.gap).toBeUndefined();
    // An item recorded later that counts as new did not exist before.
    const { revenue: dollars } = await recurringIn(books, workedOn, '', 'SGD');
    expect(dollars?.rows.map((row) => [row[0], row[2], row.at(-1)])).toEqual([
      ...[['Aug 2026', '0.00', '7.00'] as const, ['Sep 2026', '0.00', '7.00'] as const],
      ...[['Oct 2026', '5.00', '12.00'] as const, ['Nov 2026', '0.00', '12.00'] as const],
    ]);
    expect(dollars?.gap).toBeUndefined();
  });
});

test('recurring revenue says that its first month has no opening amount, and why movements are not known', async () => {
  const { url: databaseUrl } = await createTestDatabase();
  const read = { 3: 'complete', 2: 'complete', 1: 'complete', 0: 'complete' } as const;
  const books = [
    worked(
      'first-month',
      [
        { monthsAgo: 0, at: 0.2, events: [addSubscription('s', 'c', 100)] },
        {
          monthsAgo: 0,
          at: 0.9,
          events: [changeSubscription('s', { items: [monthlyItem(150)] }), addSubscription('t', 'd', 1000)],
        },
      ],
      {},
      { 0: 'complete' },
    ),
    worked(
      'paid-before-or-not',
      {
        3: [
          addSubscription('s1', 'c1', 10),
          addSubscription('s6', 'c6', 40, 'SGD'),
          addSubscription('s7', 'c6', 60),
        ],
        2: [changeSubscription('s6', { status: 'odd' }), deleteSubscription('s7')],
        1: [
          ...[addSubscription('s2', 'c2', 50), changeSubscription('s2', { status: 'canceled', items: [] })],
          ...[addSubscription('s3', 'c2', 100), addSubscription('s4', 'c3', 500)],
        ],
      },
      {},
      { ...read },
    ),
    worked(
      'as-of-the-third',
      [
        { monthsAgo: 2, at: 0, events: [addSubscription('s1', 'c1', 100)] },
        { monthsAgo: 1, at: 0.5, events: [addSubscription('s2', 'c2', 50)] },
        { monthsAgo: 0, at: 0.5, events: [addSubscription('s3', 'c3', 7)] },
      ],
      {},
      { ...read, observedUntil: { 1: 3, 0: 3 } },
    ),
    worked(
      'since-august',
      {
        3: [addSubscription('s1', 'c1', 100, 'VND'), addSubscription('s2', 'c2', 100, 'XAU')],
        0: [addBill('b', { issue_date: '2026-10-05', total_amount: 100 })],
      },
      {},
      { ...read },
    ),
    // Its first sync began in September and ended in October.
    worked(
      'since-october',
      { 2: [addSubscription('s1', 'c1', 1000, 'VND')] },
      {},
      { 2: 'incomplete', 1: 'complete', 0: 'complete' },
    ),
    worked(
      'not-yet',
      { 1: [addSubscription('s1', 'c1', 1000, 'XAU')] },
      {},
      { 1: 'incomplete', 0: 'incomplete' },
    ),
    billingAlone(),
  ].map(({ book }) => book);
  await withBooks({ databaseUrl, now: workedOn, timeZone: 'UTC', books }, async (books) => {
    await buildInPostgres(books);
    const { revenue: first } = await recurringIn(books, workedOn, 'first-month');
    const isFirst = (of: string): string =>
      `It is the first month that was observed${of}: what it began with is not known, and what moved in it is in no movement.`;
    expect(first?.sentence).toContain(`NZD 1,150.00 on 22 Nov 2026 (the month is not over). ${isFirst('')}`);
    expect((await recurringIn(books, workedOn, '')).revenue?.sentence).toContain(isFirst(' of first-month'));

    const { revenue: unknown } = await recurringIn(books, workedOn, 'paid-before-or-not');
    expect(unknown?.sentence).toContain('from 610.00 at its beginning');
    expect(unknown?.rows.find(([month]) => month === 'Oct 2026')?.slice(2, 4)).toEqual([
      'not known',
      'not known',
    ]);
    expect(unknown?.gap).toBe(
      [
        'In 1 of these months up to 1 customer began to pay, and nobody knows who of them paid before (something of theirs was not active, nor in trial, when history begins or when they were first seen, or had no price that is known, or was created before history begins and learned of later, or something before is gone from history): New and Reactivation are “not known” then',
        'in 1 of these months up to 1 customer paid more or less, and nobody knows what they pay in another currency, nor whether they are new or lost: movements that depend on it are “not known” then.',
      ].join('; '),
    );

    const { revenue: early, tile } = await recurringIn(books, workedOn, 'as-of-the-third');
    expect(early?.sentence).toBe(
      'NZD 150.00 on 3 Nov 2026, when subscriptions were last read (the month is not over), from 100.00 at its beginning.',
    );
    expect(early?.rows.map((row) => [row[0], row.at(-1)]).slice(-2)).toEqual([
      ...[['Oct 2026', '100.00'] as const, ['Nov 2026', '150.00'] as const],
    ]);
    expect(tile).toBe('of active subscriptions, as last read on 3 Nov');

    // A month that broke off is not the first observed month.
    const { revenue: begun } = await recurringIn(books, workedOn, '', 'VND');
    expect(begun?.rows.map((row) => [row[0], row.at(-1)])).toEqual([
      ...[['Oct 2026', '1,100'] as const, ['Nov 2026', '1,100'] as const],
    ]);
    expect(begun?.gap).toBe(
      'All connections are added up from Oct 2026 on, the first month that was observed of since-october: choose a connection for the months before.',
    );
    const { revenue: lacking } = await recurringIn(books, workedOn, '', 'XAU');
    expect(lacking?.rows.map(([month]) => month)).toEqual(['Aug 2026', 'Sep 2026', 'Oct 2026', 'Nov 2026']);
    expect(lacking?.gap).toBe(
      'No month of not-yet was observed yet: months before Oct 2026 are added up without it.',
    );

    // A platform without bills, expenses and credits is not missing any.
    const { charts } = await readDashboard(books.warehouse);
    for (const id of ['key-figures', 'spend-by-month', 'spend-by-vendor'])
      for (const connection of ['', 'billing-alone'])
        expect(
          charts
            .find((chart) => chart.id === id)
            ?.views.filter((view) => view.connection === connection)
            .map(({ gap }) => gap ?? '')
            .join(),
          id,
        ).not.toContain('read to');
  });
});

test('the age of marts is counted from their build, not from the day that they cover', () => {
  // Built at 23:00 of November 22 in Los Angeles, and read 17 hours later.
  const built = { status: 'complete', built_at: new Date('2026-11-23T07:00:00Z') };
  const readOn = (moment: string): string[] =>
    notesOf({
      ...{
        asOf: '2026-11-22',
        readAt: new Date(moment),
        connections: [],
        charts: [],
        catalog: [],
        offered: [],
        leftOut: { connections: 0, currencies: 0 },
      },
      build: built as Parameters<typeof notesOf>[0]['build'],
    });
  expect(readOn('2026-11-24T00:00:00Z')).toEqual([]);
  expect(readOn('2026-11-25T06:00:00Z')).toEqual([expect.stringContaining('47 hours old')]);
  expect(readOn('2026-11-25T08:00:00Z')).toEqual([expect.stringContaining('2 days old')]);
});

/** The sentences on recurring revenue in marts built at a given moment. */
async function recurringIn(
  { warehouse, today }: BooksFixture,
  builtAt: string,
  connection?: string,
  currency = 'NZD',
) {
  await warehouse.pool.query(
    `insert into sync.marts (target, run_id, as_of_date, marts, begun_at) values ('postgres', 'built', $1, 24, $2)
     on conflict (target) do nothing`,
    [today, builtAt],
  );
  const { charts } = await readDashboard(warehouse);
  const [revenue, figures] = ['recurring-revenue', 'key-figures'].map((chart) =>
    charts
      .find(({ id }) => id === chart)
      ?.views.find(
        (view) => view.currency === currency && (connection === undefined || view.connection === connection),
      ),
  );
  return { revenue, tile: figures?.rows.at(-1)?.[2] };
}

function creditGone(): WorkedBook {
  return worked(
    'credit-gone',
    {
      0: [
        addBill('bill', { issue_date: '2026-09-01', total_amount: 100 }),
        addCredit('memo', { issue_date: '2026-09-02', total_amount: 30 }),
      ],
    },
    {},
    { waiting: { bill_credit_memos: ['memo'] } },
  );
}

/** Two cases: the bill is dated ahead, or the credit is. */
function creditedLater(): WorkedBook {
  const links = (id: string, amount: number) => [
    { id, allocated_date: '2026-11-20', allocated_amount: amount },
  ];
  const settled = { total_amount: 100, amount_due: 0, status: 'paid' };
  const applied = (id: string, issue_date: string, bill: string, amount: number) =>
    addCredit(id, {
      ...{ issue_date, total_amount: amount, remaining_amount: 0, status: 'paid' },
      linked_bills: links(bill, amount),
    });
  return worked(
    'credited-later',
    {
      0: [
        addBill('ahead', {
          ...{ ...settled, issue_date: '2026-11-28', due_date: '2026-11-30', amount_due: 40 },
          ...{ status: 'partially_paid', linked_credit_memos: links('one', 60) },
        }),
        applied('one', '2026-11-01', 'ahead', 60),
        addBill('overdue', {
          ...{ ...settled, issue_date: '2026-10-28', due_date: '2026-11-10' },
          linked_credit_memos: links('two', 100),
        }),
        applied('two', '2026-11-28', 'overdue', 100),
      ],
    },
    {},
  );
}

/** A bill dated ahead uses up one of two credits. */
function usedUp(): WorkedBook {
  const links = (id: string) => [{ id, allocated_date: '2026-11-20', allocated_amount: 100 }];
  return worked(
    'used-up',
    {
      0: [
        addBill('rent', {
          ...{ issue_date: '2026-12-01', due_date: '2026-12-01', total_amount: 100, amount_due: 0 },
          ...{ status: 'paid', linked_credit_memos: links('used') },
        }),
        addCredit('used', {
          ...{ issue_date: '2026-11-10', total_amount: 100, remaining_amount: 0, status: 'paid' },
          linked_bills: links('rent'),
        }),
        addCredit('left', { issue_date: '2026-11-10', vendor_id: 'b', total_amount: 5 }),
        addBill('open', {
          ...{ issue_date: '2026-11-01', due_date: '2026-11-25', vendor_id: 'c', total_amount: 250 },
        }),
      ],
    },
    {},
  );
}

function creditAlone(): WorkedBook {
  return worked(
    'credit-alone',
    { 0: [addCredit('memo', { issue_date: '2026-09-20', total_amount: 30 })] },
    {},
  );
}

function dailyBills(): WorkedBook {
  return worked('daily-bills', { 0: alikeBills(30, 1) }, {});
}

function crowdedWeek(): WorkedBook {
  return worked('crowded-week', { 0: alikeBills(12, 7 / 11) }, {});
}

/** Bills of one vendor and amount, each so many days after the previous one. */
function alikeBills(count: number, days: number): ReturnType<typeof addBill>[] {
  return Array.from({ length: count }, (_, place) => {
    const issue_date = new Date(Date.UTC(2026, 9, 1 + Math.floor(place * days))).toISOString().slice(0, 10);
    return addBill(`alike-${place}`, { issue_date, document_number: `N-${place}`, total_amount: 50 });
  });
}

function cardPaidOff(): WorkedBook {
  const bought = (id: string, transaction_date: string, total_amount: number) =>
    addExpense(id, {
      ...{ vendor_id: 'shop', account_id: 'visa', transaction_date },
      line_items: [{ account_id: 'office', total_amount }],
    });
  const paidOff = (id: string, transaction_date: string, total_amount: number) =>
    addExpense(id, {
      ...{ vendor_id: 'bank', account_id: 'checking', transaction_date },
      line_items: [{ account_id: 'visa', total_amount }],
    });
  return worked(
    'card-paid-off',
    {
      0: [
        ...[bought('october', '2026-10-05', 100), paidOff('october-paid', '2026-10-20', 100)],
        ...[bought('november', '2026-11-05', 70), paidOff('november-paid', '2026-11-20', 70)],
      ],
    },
    {},
  );
}

/** A receipt that was entered although the card's feed has the same expense. */
function cards(): WorkedBook {
  const bought = { vendor_id: 'a', transaction_date: '2026-10-05', line_items: [{ total_amount: 80 }] };
  return worked('cards', { 0: [addExpense('feed', bought), addExpense('receipt', bought)] }, {});
}

/** Every monthly bill has our account number with the vendor as its number. */
function accountNumber(): WorkedBook {
  const bills = Array.from({ length: 23 }, (_, back) => {
    const issue_date = new Date(Date.UTC(2026, 10 - back, 5)).toISOString().slice(0, 10);
    return addBill(`monthly-${back}`, { document_number: 'ACCOUNT-7', issue_date, total_amount: 10 });
  });
  return worked('account-number', { 0: bills }, {});
}

function nameless(): WorkedBook[] {
  const november = { issue_date: '2026-11-01', currency_code: null };
  return [
    worked(
      'dollars',
      {
        0: [
          addBill('x', { ...november, total_amount: 1000 }),
          addCredit('y', { ...november, total_amount: 30 }),
          addBill('known', { issue_date: '2026-11-01', total_amount: 5 }),
        ],
      },
      {},
    ),
    worked('yen', { 0: [addBill('z', { ...november, total_amount: 150_000 })] }, {}),
    worked(
      'euros',
      {
        0: [
          addBill('euros', { ...november, total_amount: 150_000 }),
          addExpense('fee', {
            vendor_id: 'a',
            transaction_date: '2026-11-02',
            line_items: [{ total_amount: 5 }],
          }),
        ],
      },
      {},
    ),
  ];
}

function unknownAlone(): WorkedBook {
  const odd = { status: 'approved', issue_date: '2026-10-05' };
  return worked(
    'unknown-alone',
    {
      0: [
        addBill('all', { ...odd, currency_code: 'PLN', total_amount: 1_000_000 }),
        addBill('undated', { ...odd, issue_date: null, total_amount: 5000 }),
        addBill('known', { issue_date: '2026-10-05', total_amount: 1 }),
      ],
    },
    {},
  );
}

function netted(): WorkedBook {
  const odd = { status: 'approved', issue_date: '2026-11-01' };
  return worked(
    'netted',
    {
      0: [
        addBill('above', { ...odd, total_amount: 1000 }),
        addBill('below', { ...odd, vendor_id: 'b', total_amount: -1000 }),
        addBill('undated', { issue_date: null, total_amount: 700 }),
        addCredit('undated-credit', { issue_date: null, vendor_id: 'b', total_amount: 700 }),
        addBill('known', { issue_date: '2026-11-01', total_amount: 1 }),
        addCredit('payable', { issue_date: '2026-11-01', vendor_id: 'c', total_amount: -50 }),
      ],
    },
    {},
  );
}

function settlements(): WorkedBook {
  const due = { issue_date: '2026-08-01', due_date: '2026-08-30' };
  const paid = (date: string | null, amount: number) => ({
    linked_payments: [{ id: `p${amount}`, allocated_date: date, allocated_amount: amount }],
  });
  return worked(
    'settlements',
    {
      0: [
        addBill('undated', {
          ...due,
          total_amount: 5000,
          amount_due: 0,
          status: 'paid',
          ...paid(null, 5000),
        }),
        addBill('scheduled', { ...due, vendor_id: 'b', total_amount: 100, ...paid('2026-11-25', 100) }),
      ],
    },
    {},
  );
}

function feeOncePaid(): WorkedBook {
  return worked(
    'fee-once-paid',
    {
      0: [
        addBill('late', {
          ...{ issue_date: '2026-09-01', total_amount: 100, amount_due: 10, status: 'partially_paid' },
          linked_payments: [{ id: 'p1', allocated_date: '2026-10-20', allocated_amount: 100 }],
        }),
      ],
    },
    {},
  );
}

function noMoreIsDue(): WorkedBook {
  const paid = { issue_date: '2026-09-01', total_amount: 100, amount_due: 0, status: 'paid' };
  const payment = (amount: number) => ({
    linked_payments: [{ id: `p${amount}`, allocated_date: '2026-11-10', allocated_amount: amount }],
  });
  return worked(
    'no-more-is-due',
    {
      0: [
        addBill('fee-paid', { ...paid, ...payment(110) }),
        addBill('paid-more', { ...paid, vendor_id: 'b', ...payment(140) }),
        addBill('negative', { ...paid, vendor_id: 'c', total_amount: -100 }),
      ],
    },
    {},
  );
}

function thisMonth(): WorkedBook {
  const paid = { total_amount: 100, amount_due: 0, status: 'paid' };
  const payment = (allocated_date: string | null, amount: number) => ({
    linked_payments: [{ id: `p${amount}`, allocated_date, allocated_amount: amount }],
  });
  return worked(
    'this-month',
    {
      0: [
        addBill('ahead', { ...paid, issue_date: '2026-12-01', total_amount: 1000 }),
        addBill('discounted', { ...paid, issue_date: '2026-11-05', ...payment('2026-11-10', 97) }),
        addBill('undated', { ...paid, issue_date: '2026-11-05', vendor_id: 'b', ...payment(null, 100) }),
        addBill('before', {
          ...paid,
          issue_date: '2026-10-31',
          vendor_id: 'c',
          ...payment('2026-11-10', 98),
        }),
      ],
    },
    {},
  );
}

function creditedSomeDay(): WorkedBook {
  return worked(
    'credited-some-day',
    {
      0: [
        addBill('bill', {
          issue_date: '2026-09-01',
          total_amount: 100,
          amount_due: 70,
          status: 'partially_paid',
        }),
        addCredit('memo', {
          ...{ issue_date: '2026-09-20', total_amount: 30, remaining_amount: 0, status: 'paid' },
          linked_bills: [{ id: 'bill', allocated_date: null, allocated_amount: 30 }],
        }),
      ],
    },
    {},
  );
}

function undatedUnknown(): WorkedBook {
  const settled = { issue_date: '2026-09-01', total_amount: 100, amount_due: 0, status: 'paid' };
  const once = (amount: number | null): Values => ({
    linked_payments: [{ id: `p${amount}`, allocated_date: null, allocated_amount: amount }],
  });
  return worked(
    'undated-unknown',
    {
      0: [
        addBill('unknown', { ...settled, ...once(null) }),
        addBill('also-unknown', { ...settled, vendor_id: 'b', ...once(null) }),
        addBill('known', { ...settled, vendor_id: 'c', total_amount: 30, ...once(30) }),
      ],
    },
    {},
  );
}

function awaitingDeletion(): WorkedBook {
  const september = { issue_date: '2026-09-01', due_date: '2026-09-30', total_amount: 100 };
  const payment = (amount: number): Values => ({
    linked_payments: [{ id: `p${amount}`, allocated_date: '2026-11-20', allocated_amount: amount }],
  });
  return worked(
    'awaiting',
    {
      0: [
        addBill('part', { ...september, amount_due: 10, status: 'partially_paid', ...payment(90) }),
        addBill('soon', {
          issue_date: '2026-11-25',
          due_date: '2026-11-28',
          vendor_id: 'b',
          total_amount: 500,
        }),
        addBill('later', {
          issue_date: '2026-11-25',
          due_date: '2027-01-31',
          vendor_id: 'c',
          total_amount: 7,
        }),
        // Overpaid.
        addBill('overpaid', {
          ...{ ...september, vendor_id: 'd', currency_code: 'SGD', total_amount: 60, amount_due: -20 },
          ...{ status: 'paid', ...payment(80) },
        }),
        ...[addSubscription('s1', 'c1', 600), addSubscription('s2', 'c2', 400)],
        ...[addSubscription('s3', 'c3', 0), addSubscription('s4', 'c4', 5, 'VND')],
      ],
    },
    {},
    {
      0: 'complete',
      waiting: {
        bills: ['part', 'soon', 'later', 'overpaid'],
        subscriptions: ['s1', 's3', 's4'],
      },
    },
  );
}

function twoCurrencies(): WorkedBook {
  const alike = { document_number: 'INV-77' };
  return worked(
    'two-currencies',
    {
      0: [
        addBill('one', { ...alike, issue_date: '2026-01-05', total_amount: 10 }),
        addBill('two', { ...alike, issue_date: '2026-09-05', total_amount: 9, currency_code: 'SGD' }),
      ],
    },
    {},
  );
}

function manyVendors(): WorkedBook {
  const november = { issue_date: '2026-11-01' };
  const small = Array.from({ length: 16 }, (_, index) =>
    addBill(`small-${index}`, { ...november, vendor_id: `small-${index}`, total_amount: 10 }),
  );
  return worked(
    'many-vendors',
    {
      0: [
        addBill('big', { ...november, vendor_id: 'big', total_amount: 1000 }),
        addCredit('big-credit', { ...november, vendor_id: 'big', total_amount: 1000 }),
        ...small,
      ],
    },
    {},
  );
}

function notObserved(): WorkedBook {
  return worked(
    'not-observed',
    { 1: [addSubscription('s1', 'c1', 100)], 0: [changeSubscription('s1', { status: 'active' })] },
    {},
    { 1: 'complete', 0: 'incomplete' },
  );
}

function oddDocuments(): WorkedBook {
  return worked(
    'odd-documents',
    {
      0: [
        addCredit('odd', { issue_date: '2026-01-05', total_amount: 30, status: 'pending_approval' }),
        addBill('fee', { issue_date: '2026-09-01', total_amount: 100, amount_due: 110 }),
        addBill('discounted', {
          ...{ issue_date: '2026-10-01', total_amount: 100, amount_due: 0, status: 'paid' },
          linked_payments: [{ id: 'p1', allocated_date: '2026-11-10', allocated_amount: 98 }],
        }),
      ],
    },
    {},
  );
}
