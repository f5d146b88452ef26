import { amount, id, price, quantity, text } from './columns.ts';
import type { Column } from './resource.ts';

/** The line of a bill, which a bill credit memo shares (API document 2.1). */
export const billLineColumns: readonly Column[] = [
  id('account_id', 'Debit account'),
  id('class_id', 'Class'),
  id('customer_id', 'Customer the cost is billable to'),
  id('department_id', 'Department'),
  id('location_id', 'Location'),
  id('tax_rate_id', 'Tax rate'),
  text('description', 'What was bought'),
  amount('discount_amount', 'Discount of the line, in the currency of the document'),
  amount('discount_percentage', 'Discount of the line, in percent'),
  amount('sub_total', 'Line amount without tax, in the currency of the document'),
  amount('tax_amount', 'Tax of the line, in the currency of the document'),
  amount(
    'total_amount',
    'Line amount, in the currency of the document; with or without tax, as the platform has it',
  ),
  id('item_id', 'Item bought', ['item', 'id']),
  quantity('item_quantity', 'How many of the item', ['item', 'quantity']),
  price('item_unit_amount', 'Price of one item, in the currency of the document', ['item', 'unit_amount']),
];
