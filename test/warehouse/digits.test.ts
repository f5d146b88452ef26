import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bill, billLine, expense, item, list, subscription, text } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { isProof } from '../support/proof-test.ts';
import { row, rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

describe('money, rates, and quantities hold every digit that the API sent', () => {
  test.each([
    ['18 digits', '123456789012345.678', '123456789012345.678'],
    ['40 digits', '12345678901234567890.12345678901234567891', '12345678901234567890.12345678901234567891'],
    ['an integer beyond 2^53', '9007199254740993', '9007199254740993'],
    ['an exponent', '1e2', '100'],
    ['a negative exponent', '1.5E-7', '0.00000015'],
    ['minus zero', '-0', '0'],
    ['trailing zeros', '1.10', '1.10'],
    ['a value beyond the range of a double', '1e400', `1${'0'.repeat(400)}`],
    ['a value closer to zero than a double goes', '1e-400', `0.${'0'.repeat(399)}1`],
  ])('%s', async (_, sent, stored) => {
    const connectionId = await addTestConnection(warehouse);
    const line = billLine({ item: `{"id":"i","quantity":${sent},"unit_amount":${sent}}` });
    const record = bill('b', { total_amount: sent, line_items: list(line) });
    await land(warehouse, { connectionId, stream: 'bills', pages: [[record]] });
    expect(
      await row(
        warehouse,
        `select bills.total_amount, item_quantity, item_unit_amount
         from finance.bills join finance.bill_lines l on l.connection_id = $1 and l.bill_id = bills.id
         where bills.connection_id = $1`,
        [connectionId],
      ),
    ).toEqual({ total_amount: stored, item_quantity: stored, item_unit_amount: stored });
  });

  test('decimal strings are read as exactly as numbers', async () => {
    const connectionId = await addTestConnection(warehouse);
    const price = '0.123456789012345678901234567890';
    const record = item('i', {
      bill_item: `{"unit_price":"${price}"}`,
      invoice_item: '{"unit_price":" 1.0 "}',
    });
    await land(warehouse, { connectionId, stream: 'items', pages: [[record]] });
    expect(
      await row(
        warehouse,
        'select bill_unit_price, invoice_unit_price from finance.items where connection_id = $1',
        [connectionId],
      ),
    ).toEqual({ bill_unit_price: price, invoice_unit_price: '1.0' });
  });

  test('random decimals land digit by digit, in the table and in history', async () => {
    const connectionId = await addTestConnection(warehouse);
    const decimal = fc
      .record({
        sign: fc.constantFrom('', '-'),
        whole: fc.bigInt({ min: 0n, max: 10n ** 25n }).map(String),
        fraction: fc.stringMatching(/^[0-9]{0,15}$/),
      })
      .map(({ sign, whole, fraction }) => `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}`)
      // Postgres, like accounting, has no negative zero.
      .filter((sent) => !/^-[0.]*$/.test(sent));
    let round = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(decimal, { minLength: 1, maxLength: 40 }), async (amounts) => {
        round += 1;
        const ids = amounts.map((_, index) => `${round}-${String(index).padStart(2, '0')}`);
        const records = amounts.map((sent, index) =>
          expense(ids[index] ?? '', {
            currency_rate: sent,
            line_items: `[{"total_amount":${sent}}]`,
          }),
        );
        await land(warehouse, { connectionId, stream: 'expenses', pages: [records] });
        const stored = await rows(
          warehouse,
          `select currency_rate, total_amount, payload ->> 'currency_rate' as recorded
           from finance.expenses e
           join finance.expense_lines l on l.connection_id = $1 and l.expense_id = e.id
           join history.record_versions v on v.connection_id = $1 and v.record_id = e.id and v.resource = 'expenses'
           where e.connection_id = $1 and e.id = any($2) order by e.id`,
          [connectionId, ids],
        );
        expect(stored.map(Object.values)).toEqual(amounts.map((sent) => [sent, sent, sent]));
      }),
      { numRuns: isProof ? 40 : 15 },
    );
  });
});

test('a price that only gained a zero is new content: 1.1 is not 1.10', async () => {
  const connectionId = await addTestConnection(warehouse);
  const [, facts] = [
    await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b', { amount_due: '1.1' })]] }),
    await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b', { amount_due: '1.10' })]] }),
  ];
  expect(facts[0]).toMatchObject({ updated: 1, unchanged: 0 });
  expect(
    await row(warehouse, 'select amount_due from finance.bills where connection_id = $1', [connectionId]),
  ).toEqual({ amount_due: '1.10' });
});

test('whole numbers are whole in any notation', async () => {
  const connectionId = await addTestConnection(warehouse);
  const element = (count: string): string => `{"platform_id":${text(count)},"interval_count":${count}}`;
  const items = list(element('3'), element('3.0'), element('3e0'), element('9223372036854775807'));
  await land(warehouse, { connectionId, stream: 'subscriptions', pages: [[subscription('s', { items })]] });
  expect(
    await rows(
      warehouse,
      'select interval_count::text from finance.subscription_items where connection_id = $1 order by position',
      [connectionId],
    ),
  ).toEqual(['3', '3', '3', '9223372036854775807'].map((interval_count) => ({ interval_count })));
});
