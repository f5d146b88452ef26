import { allocationColumns, linkColumns } from './allocations.ts';
import { billLineColumns } from './bill-lines.ts';
import {
  amount,
  currency,
  createdAt,
  date,
  decimalText,
  enumeration,
  id,
  ids,
  lastSyncedAt,
  platformData,
  recordKey,
  text,
  updatedAt,
} from './columns.ts';
import type { Resource } from './resource.ts';

/** API document 2.2, 4.2. */
export const bills: Resource = {
  name: 'bills',
  singular: 'bill',
  listPath: '/accounting/bills',
  fetchable: true,
  namesCompany: true,
  eventName: 'BILL',
  webhookName: 'BILL',
  version: 'last_synced_at',
  streams: [{ name: 'bills', query: { sort: 'last_synced_at ASC' }, floorParameter: 'last_synced_at_min' }],
  comment: 'Bills: issued by a vendor, to be paid by the business',
  columns: [
    ...recordKey,
    id('account_id', 'Accounts payable account that is credited'),
    // A single text by its type, but a list of IDs by its description (API document 2.2).
    ids('payment_terms_id', 'Payment terms'),
    id('subsidiary_id', 'Subsidiary; one class of platforms only'),
    id('vendor_id', 'Vendor'),
    date('due_date', 'Day the bill is due, as written by the platform'),
    date('issue_date', 'Day the bill was issued, as written by the platform'),
    amount('amount_due', 'Total minus applied payments and credit memos, in currency_code'),
    currency('currency_code', 'Currency of every amount of the bill (ISO 4217)'),
    enumeration(
      'status',
      'open, partially_paid, paid, void, draft, submitted, unknown; new values may appear',
    ),
    amount('total_amount', 'Total of the bill, in currency_code'),
    text('document_number', 'Number the buyer sees on the bill'),
    text('memo', 'Memo'),
    amount('sub_total', 'Total without tax, in currency_code'),
    amount('tax_amount', 'Tax, in currency_code'),
    amount('total_discount', 'Discount, in currency_code'),
    decimalText(
      'currency_rate',
      'Exchange rate to the default currency of the business; some platforms only',
    ),
    createdAt,
    updatedAt,
    lastSyncedAt,
    platformData,
  ],
  children: [
    {
      table: 'bill_lines',
      parentKey: 'bill_id',
      from: 'line_items',
      comment: 'Lines of bills',
      columns: billLineColumns,
    },
    {
      table: 'bill_payment_allocations',
      parentKey: 'bill_id',
      from: 'linked_payments',
      comment: 'Payments applied to bills',
      columns: allocationColumns,
    },
    {
      table: 'bill_credit_allocations',
      parentKey: 'bill_id',
      from: 'linked_credit_memos',
      comment: 'Credit memos applied to bills, as the bill tells it',
      columns: allocationColumns,
    },
    {
      table: 'bill_purchase_orders',
      parentKey: 'bill_id',
      from: 'linked_purchase_orders',
      comment: 'Purchase orders that bills belong to',
      columns: linkColumns,
    },
  ],
};
