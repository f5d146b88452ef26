import type { Oddity } from './oddity.ts';

/** Values that clients of such services have published reports about. */
export const nastyOddities: readonly Oddity[] = [
  {
    name: 'text with a NUL character',
    landable: true,
    patch: {
      bills: { memo: String.raw`"before\u0000after"` },
      expenses: { memo: String.raw`"\u0000"` },
      bill_credit_memos: { memo: String.raw`"\\u0000 is written, \u0000 is meant"` },
      customers: { customer_name: String.raw`"Nul\u0000l Ltd"` },
      items: { name: String.raw`"Item\u0000"` },
    },
  },
  {
    name: 'more digits than a double holds',
    landable: true,
    patch: {
      bills: { total_amount: '123456789012345678.123456789', amount_due: '9007199254740993' },
      bill_credit_memos: { total_amount: '100000000000000000.000000001' },
      items: { quantity_on_hand: '9007199254740993.000000001' },
    },
  },
  {
    name: 'numbers written with exponents and signs',
    landable: true,
    patch: {
      bills: { total_discount: '-0', tax_amount: '1.5e2' },
      bill_credit_memos: { remaining_amount: '1E+2' },
    },
  },
  {
    name: 'empty strings and the text null',
    landable: true,
    patch: {
      bills: { vendor_id: '""', due_date: '""', currency_rate: '""', updated_at: '""' },
      expenses: { account_id: '""', created_at: '""' },
      bill_credit_memos: { currency_code: '"null"' },
      customers: { currency_code: '""', parent_id: '""' },
      items: { code: '""', bill_item: '{"description":"","unit_price":""}' },
    },
  },
  {
    name: 'decimal strings that are no numbers',
    landable: true,
    patch: {
      bills: { currency_rate: '"n/a"' },
      items: { invoice_item: '{"description":"For sale","unit_price":"1,234.50"}' },
    },
  },
  {
    name: 'unknown fields and values',
    landable: true,
    patch: {
      bills: { status: '"on_hold"', risk: '{"score":0.1}' },
      customers: { status: '"BLOCKED"' },
      subscriptions: { status: '"unpaid"' },
    },
  },
  { name: 'a very long text', landable: true, patch: { bills: { memo: `"${'long '.repeat(4_000)}"` } } },
  {
    name: 'wrong types',
    landable: false,
    patch: {
      bills: { total_amount: '{"value":"10.00"}' },
      expenses: { memo: '42' },
      bill_credit_memos: { linked_bills: '"none"' },
      customers: { addresses: '{}' },
      items: { name: '17' },
      subscriptions: { items: '"none"' },
    },
  },
  {
    name: 'an impossible date',
    landable: false,
    patch: {
      bills: { issue_date: '"2025-02-30T00:00:00.000Z"' },
      expenses: { transaction_date: '"yesterday"' },
      bill_credit_memos: { issue_date: '"2025-13-01T00:00:00.000Z"' },
    },
  },
  {
    name: 'no id',
    landable: false,
    patch: { bills: { id: null }, expenses: { id: null }, customers: { id: 'null' } },
  },
];
