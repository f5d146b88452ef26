import { amount, date, id } from './columns.ts';
import type { Column } from './resource.ts';

/** An allocation entry: how much of one document settled another, and when (API document 2.1). */
export const allocationColumns: readonly Column[] = [
  id('linked_id', 'Service ID of the document on the other side', ['id']),
  date('allocated_date', 'Day of the allocation, as written by the platform'),
  amount('allocated_amount', 'Amount allocated, in the currency of the document'),
];

/** An entry that only names another record. */
export const linkColumns: readonly Column[] = [id('linked_id', 'Service ID of the linked record', ['id'])];
