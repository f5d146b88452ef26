/** The resources of API document 4.2 to 4.5, as data: the path, the name of the payload, and the writes of each. */
export const resources = {
  bills: {
    path: '/accounting/bills',
    singular: 'bill',
    eventName: 'BILL',
    webhookType: 'BILL',
    writes: ['create', 'update', 'delete'],
  },
  expenses: {
    path: '/accounting/expenses',
    singular: 'expense',
    eventName: 'EXPENSE',
    webhookType: 'EXPENSE',
    writes: ['create', 'update', 'delete'],
  },
  bill_credit_memos: {
    path: '/accounting/bill_credit_memos',
    singular: 'bill_credit_memo',
    eventName: 'BILL_CREDIT_MEMO',
    webhookType: 'BILL_CREDIT_MEMO',
    writes: ['create', 'apply'],
  },
  customers: {
    path: '/accounting/customers',
    singular: 'customer',
    eventName: 'ACCOUNTING_CUSTOMER',
    webhookType: 'CUSTOMER',
    writes: ['create', 'update'],
  },
  items: {
    path: '/accounting/items',
    singular: 'item',
    eventName: 'ITEMS',
    webhookType: 'ITEM',
    writes: ['create', 'update'],
  },
  subscriptions: {
    path: '/subscriptions',
    singular: 'subscription',
    eventName: null,
    webhookType: null,
    writes: [],
  },
} as const satisfies Record<string, ResourceDescription>;

export type ResourceName = keyof typeof resources;

export const resourceNames = [
  'bills',
  'expenses',
  'bill_credit_memos',
  'customers',
  'items',
  'subscriptions',
] as const satisfies readonly ResourceName[];

/** `apply` is the bill credit application (4.4), which is listed under its memo. */
export type WriteOperation = 'create' | 'update' | 'delete' | 'apply';

interface ResourceDescription {
  readonly path: string;
  readonly singular: string;
  /** Its name in deletion events; null if it has none. */
  readonly eventName: string | null;
  /** Its name in webhooks; null if it has none. */
  readonly webhookType: string | null;
  readonly writes: readonly WriteOperation[];
}
