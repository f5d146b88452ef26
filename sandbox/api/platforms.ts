import type { ResourceName, WriteOperation } from './resources.ts';

/**
 * Returns what one accounting platform supports (API document 1.8, 4.6, "some integrations only"). A code that is not listed
 * is served as `otherPlatform`, because platform codes are an open set.
 */
export function platformNamed(code: string): Platform {
  return platforms[code] ?? otherPlatform;
}

const accounting = ['bills', 'expenses', 'bill_credit_memos', 'customers', 'items'] as const;

const otherPlatform: Platform = {
  lists: accounting,
  missingWrites: {},
  deletionEvents: [],
  filters: [],
  platformIds: false,
  homeCurrency: 'USD',
  currencyRates: false,
  subsidiaries: false,
  parentCustomers: false,
  rawRecords: 'other',
};

const platforms: Record<string, Platform | undefined> = {
  // No real accounting platform also has subscriptions; here, one connection shows every resource at once.
  QUICKBOOKS: {
    lists: [...accounting, 'subscriptions'],
    missingWrites: {},
    deletionEvents: ['bills', 'expenses', 'customers', 'items'],
    filters: ['document_number', 'transaction_date', 'customer_name', 'name'],
    platformIds: true,
    homeCurrency: 'USD',
    currencyRates: true,
    subsidiaries: false,
    parentCustomers: true,
    rawRecords: 'quickbooks',
  },
  NETSUITE: {
    lists: accounting,
    missingWrites: {},
    deletionEvents: accounting,
    filters: ['document_number'],
    platformIds: true,
    homeCurrency: 'EUR',
    currencyRates: true,
    subsidiaries: true,
    parentCustomers: false,
    rawRecords: 'netsuite',
  },
  XERO: {
    ...otherPlatform,
    missingWrites: { expenses: ['update', 'delete'], bill_credit_memos: ['apply'] },
    filters: ['transaction_date'],
    platformIds: true,
    homeCurrency: 'GBP',
    rawRecords: 'xero',
  },
  SAGE_INTACCT: { ...otherPlatform, lists: ['bills', 'expenses', 'customers', 'items'] },
  STRIPE: { ...otherPlatform, lists: ['subscriptions'] },
  CHARGEBEE: { ...otherPlatform, lists: ['subscriptions'] },
};

export interface Platform {
  /** The lists that answer; the others are 404. */
  readonly lists: readonly ResourceName[];
  /** Writes of the document that answer 404, in addition to all writes of resources that are not listed. */
  readonly missingWrites: Partial<Record<ResourceName, readonly WriteOperation[]>>;
  /** Resources whose deletions become `object_deleted` events. */
  readonly deletionEvents: readonly ResourceName[];
  /** Optional filters that work; the others are ignored. */
  readonly filters: readonly PlatformFilter[];
  /** Whether `id_type=platform` works. */
  readonly platformIds: boolean;
  readonly homeCurrency: string;
  readonly currencyRates: boolean;
  readonly subsidiaries: boolean;
  readonly parentCustomers: boolean;
  /** The format of its own records of bills, credits and expenses. */
  readonly rawRecords: RawRecords;
}

/** How a platform writes its own records; `other` names no vendors or accounts. */
export type RawRecords = 'quickbooks' | 'netsuite' | 'xero' | 'other';

export type PlatformFilter = 'document_number' | 'transaction_date' | 'customer_name' | 'name';
