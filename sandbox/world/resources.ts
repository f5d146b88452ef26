/** The lists of API document 4.2 to 4.5, as data: where each is served and how its payload is called. */
export const resources = {
  bills: { path: '/accounting/bills', singular: 'bill', eventName: 'BILL' },
  expenses: { path: '/accounting/expenses', singular: 'expense', eventName: 'EXPENSE' },
  bill_credit_memos: {
    path: '/accounting/bill_credit_memos',
    singular: 'bill_credit_memo',
    eventName: 'BILL_CREDIT_MEMO',
  },
  customers: { path: '/accounting/customers', singular: 'customer', eventName: 'ACCOUNTING_CUSTOMER' },
  items: { path: '/accounting/items', singular: 'item', eventName: 'ITEMS' },
  subscriptions: { path: '/subscriptions', singular: 'subscription', eventName: null },
} as const;

export type ResourceName = keyof typeof resources;

export const resourceNames = [
  'bills',
  'expenses',
  'bill_credit_memos',
  'customers',
  'items',
  'subscriptions',
] as const satisfies readonly ResourceName[];
