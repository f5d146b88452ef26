import { allocation, bill, billLine, customer, list, type Fields } from '../support/finance-records.ts';

/** Records that sources really send, named by the bill. All of them are in the books of one company that keeps them in USD. */
export const oddBills: readonly string[] = [
  odd('eighteen-digits', { total_amount: '123456789012345.678' }),
  odd('long-rate', { total_amount: '1000000.01', currency_code: '"EUR"', currency_rate: '"1.123456789012"' }),
  odd('undated', { total_amount: '10', issue_date: 'null', due_date: 'null' }),
  odd('novel-status', { total_amount: '20', status: '"pending_approval"' }),
  odd('negative', { total_amount: '-30' }),
  odd('rateless', { total_amount: '40', currency_code: '"EUR"', currency_rate: 'null' }),
  odd('yen', { total_amount: '5000', currency_code: '"JPY"', currency_rate: '"0.0064"' }),
  odd('dinar', { total_amount: '1.234', currency_code: '"KWD"', currency_rate: '"3.25"' }),
  odd('zero', {
    total_amount: '0',
    status: '"paid"',
    vendor_id: '"vendor-2"',
    platform_data: '{"VendorRef":{"value":"2","name":"Acme, Inc."}}',
  }),
  odd('ten-decimals', { total_amount: '0.1234567891', amount_due: '0.1' }),
  odd('too-long-rate', { total_amount: '5', currency_code: '"EUR"', currency_rate: '"1.1234567890123"' }),
  // 4867.08 less 1000.3, as a double.
  odd('noisy', {
    total_amount: '4867.08',
    amount_due: '3866.7799999999997',
    status: '"partially_paid"',
    issue_date: '"2024-02-15"',
    due_date: '"2024-03-01"',
    vendor_id: '"vendor-3"',
    linked_payments: list(allocation('p1', { allocated_amount: '1000.3', allocated_date: '"2024-04-10"' })),
  }),
  // Each in a currency of its own, so that other figures stay known.
  odd('too-large', {
    total_amount: '100000000000000000',
    amount_due: '7',
    currency_code: '"CHF"',
    currency_rate: 'null',
    vendor_id: '"vendor-4"',
  }),
  odd('due-too-large', {
    total_amount: '1',
    amount_due: '99999999999999999.9999999995',
    currency_code: '"GBP"',
    currency_rate: 'null',
    vendor_id: '"vendor-4"',
  }),
  odd('beside-it', {
    total_amount: '8',
    currency_code: '"GBP"',
    currency_rate: 'null',
    vendor_id: '"vendor-4"',
  }),
  odd('line-beyond-the-lake', {
    total_amount: '30',
    currency_code: '"SEK"',
    currency_rate: 'null',
    vendor_id: '"vendor-4"',
    line_items: list(
      billLine({ total_amount: '1e30', sub_total: '1e30', tax_amount: '0', account_id: '"account-3"' }),
      billLine({ total_amount: '20', sub_total: '20', tax_amount: '0' }),
      billLine({ total_amount: 'null', sub_total: 'null', tax_amount: 'null', account_id: '"account-3"' }),
    ),
  }),
  odd('post-dated', {
    ...{
      total_amount: '60',
      amount_due: '0',
      status: '"paid"',
      currency_code: '"NOK"',
      currency_rate: 'null',
    },
    issue_date: '"2024-02-15"',
    due_date: '"2024-03-01"',
    linked_payments: list(allocation('p2', { allocated_amount: '60', allocated_date: '"2099-01-01"' })),
  }),
  odd('dated-ahead', {
    total_amount: '70',
    currency_code: '"NOK"',
    currency_rate: 'null',
    issue_date: '"2098-12-31"',
    due_date: '"2099-01-31"',
  }),
];

/** Each customer is the parent of the other. */
export const cyclicCustomers: readonly string[] = [
  customer('x', { parent_id: '"y"' }),
  customer('y', { parent_id: '"x"' }),
];

function odd(id: string, fields: Fields & { total_amount: string }): string {
  const { total_amount } = fields;
  const line = billLine({ total_amount, sub_total: total_amount, tax_amount: '0' });
  return bill(id, {
    document_number: `"${id}"`,
    amount_due: total_amount,
    sub_total: total_amount,
    tax_amount: '0',
    line_items: list(line),
    ...fields,
  });
}
