import {
  amount,
  currency,
  createdAt,
  date,
  enumeration,
  id,
  lastSyncedAt,
  platformData,
  rate,
  recordKey,
  text,
  updatedAt,
} from './columns.ts';
import type { Resource } from './resource.ts';

/** API document 2.3, 4.3. The list returns only expenses unless refunds are requested, hence two streams. */
export const expenses: Resource = {
  name: 'expenses',
  singular: 'expense',
  listPath: '/accounting/expenses',
  fetchable: true,
  namesCompany: true,
  eventName: 'EXPENSE',
  webhookName: 'EXPENSE',
  version: 'last_synced_at',
  streams: [
    {
      name: 'expenses',
      query: { expense_type: 'expense', sort: 'last_synced_at ASC' },
      floorParameter: 'last_synced_at_min',
    },
    {
      name: 'refunds',
      query: { expense_type: 'refund', sort: 'last_synced_at ASC' },
      floorParameter: 'last_synced_at_min',
    },
  ],
  comment: 'Expenses and refunds: purchases paid by card, bank or another asset',
  columns: [
    ...recordKey,
    id('account_id', 'Account that is credited'),
    id('subsidiary_id', 'Subsidiary; one class of platforms only'),
    id('vendor_id', 'Vendor'),
    date('transaction_date', 'Day of the purchase, as written by the platform'),
    currency('currency_code', 'Currency of every amount of the expense (ISO 4217)'),
    enumeration('expense_type', 'expense or refund'),
    rate('currency_rate', 'Exchange rate to the default currency of the business; some platforms only'),
    text('memo', 'Memo'),
    createdAt,
    updatedAt,
    lastSyncedAt,
    platformData,
  ],
  children: [
    {
      table: 'expense_lines',
      parentKey: 'expense_id',
      from: 'line_items',
      comment: 'Lines of expenses and refunds',
      columns: [
        id('account_id', 'Debit account'),
        id('class_id', 'Class'),
        id('customer_id', 'Customer the cost is billable to'),
        id('department_id', 'Department'),
        id('location_id', 'Location'),
        id('tax_rate_id', 'Tax rate'),
        amount('total_amount', 'Line amount, in the currency of the expense; positive for a refund too'),
        text('description', 'What was bought'),
      ],
    },
  ],
};
