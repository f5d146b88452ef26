import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../support/test-database.ts';
import { buildInPostgres } from './check-books.ts';
import { withBooks } from './books-fixture.ts';
import { addBill, addCredit, worked, workedOn } from './worked-book.ts';

test('the query of docs/marts.md counts a credit in the month in which balances count it', async () => {
  const { url: databaseUrl } = await createTestDatabase();
  const applied = (id: string, allocated_date: string | null, allocated_amount: number) => [
    { id, allocated_date, allocated_amount },
  ];
  const bill = { issue_date: '2026-08-01', total_amount: 100, amount_due: 70, status: 'partially_paid' };
  const credit = { issue_date: '2026-08-20', total_amount: 30, remaining_amount: 0, status: 'paid' };
  const books = [
    // The credit tells 20 more than the bill; they count on its day.
    worked(
      'in-parts',
      {
        0: [
          addBill('bill', { ...bill, linked_credit_memos: applied('memo', '2026-11-10', 10) }),
          addCredit('memo', { ...credit, linked_bills: applied('bill', '2026-10-05', 30) }),
        ],
      },
      {},
    ),
    // Applied before the credit is issued.
    worked(
      'issued-later',
      {
        0: [
          addBill('bill', bill),
          addCredit('memo', {
            ...credit,
            issue_date: '2026-10-02',
            linked_bills: applied('bill', '2026-09-05', 30),
          }),
        ],
      },
      {},
    ),
    worked(
      'some-day',
      {
        0: [
          addBill('bill', bill),
          addCredit('memo', { ...credit, linked_bills: applied('bill', null, 30) }),
          addBill('void', {
            ...bill,
            vendor_id: 'b',
            status: 'void',
            linked_credit_memos: applied('x', '2026-10-05', 30),
          }),
        ],
      },
      {},
    ),
  ].map(({ book }) => book);
  await withBooks({ databaseUrl, now: workedOn, timeZone: 'UTC', books }, async (fixture) => {
    await buildInPostgres(fixture);
    const docs = await readFile(join(import.meta.dirname, '..', '..', 'docs', 'marts.md'), 'utf8');
    const [, query] = /-- Amounts that credits took off bills, by month.*\n([^;]*);/.exec(docs) ?? [];
    if (query === undefined) throw new Error('docs/marts.md has no query "by month" any more.');
    const credited = await fixture.warehouse.pool.query<
      Record<'connection_id' | 'month' | 'credited', string>
    >(
      `select connection_id, month::date::text, credited from (${query}) as by_month order by 1, 2 nulls last`,
    );
    expect(
      credited.rows.map(({ connection_id, month, credited: amount }) => [
        connection_id,
        month,
        Number(amount),
      ]),
    ).toEqual([
      ['in-parts', '2026-10-01', 20],
      ['in-parts', '2026-11-01', 10],
      ['issued-later', '2026-10-01', 30],
      ['some-day', null, 30],
    ]);
    const open = await fixture.warehouse.pool.query<{ open_amount: string }>(
      `select open_amount from marts.ap_open_items
       where connection_id = 'in-parts' and document_id = 'bill' and as_of_date between '2026-09-30' and '2026-11-22'
       order by as_of_date`,
    );
    expect(open.rows.map(({ open_amount: amount }) => Number(amount))).toEqual([100, 80, 70]);
  });
});
