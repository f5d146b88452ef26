import type { Oddity } from './oddity.ts';

const field = { additional_fields: '{"pending":[1.10,{"nested":true}]}', revision: '12345678901234567890' };

/** Additions that section 9 allows in a published version: new fields, enum values and currencies. All can be stored. */
export const futureOddities: readonly Oddity[] = [
  {
    name: 'unknown fields',
    landable: true,
    patch: {
      bills: field,
      expenses: field,
      bill_credit_memos: field,
      customers: field,
      items: field,
      subscriptions: field,
    },
  },
  {
    name: 'new enum value',
    landable: true,
    patch: {
      bills: { status: '"pending_approval"' },
      expenses: { expense_type: '"expense"', payment_method: '"virtual_card"' },
      bill_credit_memos: { status: '"rejected"' },
      customers: { status: '"ARCHIVED"' },
      items: { type: '"bundle"' },
      subscriptions: { status: '"past_due"' },
    },
  },
  {
    name: 'new currency code',
    landable: true,
    patch: {
      bills: { currency_code: '"XCG"' },
      expenses: { currency_code: '"XCG"' },
      subscriptions: { iso_currency_code: '"XCG"' },
    },
  },
];
