import { bill, billLine, customer, list, type Fields } from '../support/finance-records.ts';

/** What sources really send, by the name of the bill: every one of them in the books of one company that keeps them in USD. */
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
    ...{ total_amount: '0', status: '"paid"', vendor_id: '"vendor-2"' },
    platform_data: '{"VendorRef":{"value":"2","name":"Acme, Inc."}}',
  }),
  odd('ten-decimals', { total_amount: '0.1234567891', amount_due: '0.1' }),
  odd('too-large', { total_amount: '100000000000000000', amount_due: '0', status: '"paid"' }),
  odd('too-long-rate', { total_amount: '5', currency_code: '"EUR"', currency_rate: '"1.1234567890123"' }),
];

/** Each the parent of the other. */
export const cyclicCustomers: readonly string[] = [
  customer('x', { parent_id: '"y"' }),
  customer('y', { parent_id: '"x"' }),
];

function odd(id: string, fields: Fields & { total_amount: string }): string {
  const { total_amount } = fields;
  const line = billLine({ total_amount, sub_total: total_amount, tax_amount: '0' });
  return bill(id, {
    ...{ document_number: `"${id}"`, amount_due: total_amount, sub_total: total_amount, tax_amount: '0' },
    ...{ line_items: list(line), ...fields },
  });
}
