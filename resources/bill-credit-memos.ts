import { allocationColumns } from './allocations.ts';
import { billLineColumns } from './bill-lines.ts';
import {
  amount,
  currency,
  createdAt,
  date,
  enumeration,
  id,
  lastSyncedAt,
  platformData,
  recordKey,
  text,
  updatedAt,
} from './columns.ts';
import type { Resource } from './resource.ts';

/** API document 2.4, 4.4. */
export const billCreditMemos: Resource = {
  name: 'bill_credit_memos',
  singular: 'bill_credit_memo',
  listPath: '/accounting/bill_credit_memos',
  fetchable: true,
  namesCompany: true,
  eventName: 'BILL_CREDIT_MEMO',
  webhookName: 'BILL_CREDIT_MEMO',
  version: 'last_synced_at',
  streams: [
    {
      name: 'bill_credit_memos',
      query: { sort: 'last_synced_at ASC' },
      floorParameter: 'last_synced_at_min',
    },
  ],
  comment: 'Bill credit memos: credits of a vendor that can be applied against bills',
  columns: [
    ...recordKey,
    id('account_id', 'Account that is credited, typically accounts payable'),
    id('vendor_id', 'Vendor'),
    date('issue_date', 'Day the credit was issued, as written by the platform'),
    text('document_number', 'Number on the credit memo'),
    amount('remaining_amount', 'Amount not yet applied, in currency_code'),
    enumeration(
      'status',
      'open, partially_paid, paid, void, draft, submitted, unknown; new values may appear',
    ),
    amount('total_amount', 'Total of the credit, in currency_code'),
    currency('currency_code', 'Currency of every amount of the credit memo (ISO 4217)'),
    text('memo', 'Memo'),
    createdAt,
    updatedAt,
    lastSyncedAt,
    platformData,
  ],
  children: [
    {
      table: 'bill_credit_memo_lines',
      parentKey: 'bill_credit_memo_id',
      from: 'line_items',
      comment: 'Lines of bill credit memos',
      columns: billLineColumns,
    },
    {
      table: 'bill_credit_memo_allocations',
      parentKey: 'bill_credit_memo_id',
      from: 'linked_bills',
      comment:
        'Bills that credit memos were applied to, as the credit memo tells it: the mirror of bill_credit_allocations',
      columns: allocationColumns,
    },
  ],
};
