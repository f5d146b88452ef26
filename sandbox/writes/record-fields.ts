import * as z from 'zod';
import type { ResourceName } from '../api/resources.ts';
import { currencyCodes } from './currency-codes.ts';
import { shaped, shapedList } from './shaped.ts';

const id = z.string().min(1);
const text = z.string().nullable();
export const time = z.union([z.iso.datetime({ offset: true, local: true }), z.iso.date()]);
export const currency = z.string().refine((code) => currencyCodes.has(code), 'is no currency code');
const amount = z.number();
const status = z.enum(['open', 'partially_paid', 'paid', 'void', 'draft', 'unknown', 'submitted']);
const decimalText = z.string().regex(/^[+-]?(\d+\.?\d*|\.\d+)$/, 'is no decimal');
const tradeItem = z.object({
  account_id: text.optional(),
  description: text.optional(),
  unit_price: decimalText.nullish(),
});
const addressNames = ['type', 'address1', 'address2', 'city', 'country', 'postal_code', 'region'];
const address = z.object(Object.fromEntries(addressNames.map((name) => [name, text.optional()])));

const tracking = {
  account_id: text.optional(),
  class_id: text.optional(),
  customer_id: text.optional(),
  department_id: text.optional(),
  location_id: text.optional(),
  tax_rate_id: text.optional(),
  description: text.optional(),
};
const billLine = z.object({
  ...tracking,
  discount_amount: amount.nullish(),
  discount_percentage: amount.nullish(),
  sub_total: amount.nullish(),
  tax_amount: amount.nullish(),
  total_amount: amount.nullish(),
  item: z
    .object({ id: text.optional(), quantity: amount.nullish(), unit_amount: amount.nullish() })
    .nullish(),
});
const expenseLine = z.object({ ...tracking, total_amount: amount });
const noTrade = '{"description":null,"unit_price":null}';
const references = z.array(z.object({ id }));

const lineNames = ['account_id', 'class_id', 'customer_id', 'department_id', 'location_id', 'tax_rate_id'];
const billLineNames = [
  ...lineNames,
  'description',
  'discount_amount',
  'discount_percentage',
  'sub_total',
  'tax_amount',
  'total_amount',
  'item',
];

/**
 * The fields of section 2 in its order: what a client may write, and the initial values of a created record. A field without a schema
 * is written only by the service. Amounts are computed afterwards.
 */
export const recordFields: Record<WritableResource, Readonly<Record<string, Field>>> = {
  bills: {
    id: { initial: ({ id }) => quoted(id) },
    platform_id: { initial: ({ platformId }) => quoted(platformId) },
    account_id: { schema: text, initial: 'null' },
    payment_terms_id: { schema: text, initial: 'null' },
    subsidiary_id: { schema: text, initial: 'null' },
    vendor_id: { schema: text, initial: 'null', required: true },
    due_date: { schema: time.nullable(), initial: 'null' },
    issue_date: { schema: time, initial: ({ day }) => quoted(day) },
    amount_due: { initial: '0' },
    currency_code: { schema: currency, initial: ({ homeCurrency }) => quoted(homeCurrency) },
    status: { schema: status, initial: '"open"' },
    total_amount: { schema: amount, initial: '0' },
    document_number: { schema: text, initial: 'null' },
    memo: { schema: text, initial: 'null' },
    sub_total: { schema: amount.nullable(), initial: '0' },
    tax_amount: { schema: amount.nullable(), initial: '0' },
    total_discount: { schema: amount.nullable(), initial: '0' },
    linked_purchase_orders: { schema: references, initial: '[]', normal: shapedList(['id']) },
    currency_rate: { schema: decimalText.nullable() },
    linked_credit_memos: { initial: '[]' },
    linked_payments: { initial: '[]' },
    line_items: {
      schema: z.array(billLine),
      initial: '[]',
      normal: shapedList(billLineNames),
      required: true,
    },
    created_at: { initial: ({ now }) => quoted(now) },
    updated_at: { initial: ({ now }) => quoted(now) },
  },
  expenses: {
    id: { initial: ({ id }) => quoted(id) },
    platform_id: { initial: ({ platformId }) => quoted(platformId) },
    account_id: { schema: text, initial: 'null', required: true },
    subsidiary_id: { schema: text, initial: 'null' },
    vendor_id: { schema: text, initial: 'null' },
    transaction_date: { schema: time, initial: ({ day }) => quoted(day) },
    currency_code: { schema: currency, initial: ({ homeCurrency }) => quoted(homeCurrency) },
    expense_type: { schema: z.enum(['expense', 'refund']), initial: '"expense"' },
    currency_rate: { schema: amount },
    memo: { schema: text, initial: 'null' },
    line_items: {
      schema: z.array(expenseLine),
      initial: '[]',
      normal: shapedList([...lineNames, 'total_amount', 'description']),
      required: true,
    },
    created_at: { initial: ({ now }) => quoted(now) },
    updated_at: { initial: ({ now }) => quoted(now) },
  },
  bill_credit_memos: {
    id: { initial: ({ id }) => quoted(id) },
    platform_id: { initial: ({ platformId }) => quoted(platformId) },
    account_id: { schema: text, initial: 'null' },
    vendor_id: { schema: text, initial: 'null', required: true },
    issue_date: { schema: time, initial: ({ day }) => quoted(day) },
    document_number: { schema: z.string(), initial: ({ platformId }) => quoted(`CM-${platformId}`) },
    remaining_amount: { initial: '0' },
    status: { schema: status, initial: '"open"' },
    total_amount: { schema: amount, initial: '0' },
    currency_code: {
      schema: currency.nullable(),
      initial: ({ homeCurrency }) => quoted(homeCurrency),
    },
    memo: { schema: text, initial: 'null' },
    linked_bills: { initial: '[]' },
    line_items: {
      schema: z.array(billLine),
      initial: '[]',
      normal: shapedList(billLineNames),
      required: true,
    },
    created_at: { initial: ({ now }) => quoted(now) },
    updated_at: { initial: ({ now }) => quoted(now) },
  },
  customers: {
    id: { initial: ({ id }) => quoted(id) },
    platform_id: { initial: ({ platformId }) => quoted(platformId) },
    parent_id: { schema: text, initial: 'null' },
    subsidiary_id: { schema: text, initial: 'null' },
    status: { schema: z.enum(['ACTIVE', 'INACTIVE', 'UNKNOWN']), initial: '"ACTIVE"' },
    contact_name: { schema: text, initial: 'null' },
    currency_code: { schema: currency.nullable(), initial: 'null' },
    customer_name: { schema: text, initial: 'null', required: true },
    email: { schema: text, initial: 'null' },
    phone: { schema: text, initial: 'null' },
    registration_number: { schema: text, initial: 'null' },
    tax_number: { schema: text, initial: 'null' },
    addresses: { schema: z.array(address), initial: '[]', normal: shapedList(addressNames) },
    updated_at: { initial: ({ now }) => quoted(now) },
  },
  items: {
    id: { initial: ({ id }) => quoted(id) },
    platform_id: { initial: ({ platformId }) => quoted(platformId) },
    status: { schema: z.enum(['active', 'archived', 'unknown']), initial: '"active"' },
    type: {
      schema: z.enum(['inventory', 'non_inventory', 'service', 'discount', 'unknown']),
      initial: '"unknown"',
    },
    code: { schema: text, initial: 'null' },
    name: { schema: text, initial: 'null', required: true },
    quantity_on_hand: { schema: amount.nullable(), initial: 'null' },
    subsidiaries: { schema: references, initial: '[]', normal: shapedList(['id']) },
    // The account of each side and of the stock are internal to the platform: records do not show them.
    asset_account_id: { schema: text, hidden: true },
    bill_item: { schema: tradeItem, initial: noTrade, normal: shaped(['description', 'unit_price']) },
    invoice_item: { schema: tradeItem, initial: noTrade, normal: shaped(['description', 'unit_price']) },
    updated_at: { initial: ({ now }) => quoted(now) },
  },
};

function quoted(value: string): string {
  return JSON.stringify(value);
}

export type WritableResource = Exclude<ResourceName, 'subscriptions'>;

export interface Field {
  readonly schema?: z.ZodType;
  /** The JSON text if nothing was written; if absent, the field is left out. */
  readonly initial?: string | ((created: Created) => string);
  readonly required?: boolean;
  /** Converts the written JSON text to the record's shape. */
  readonly normal?: (json: string) => string;
  /** Accepted, but not shown. */
  readonly hidden?: boolean;
}

/** Facts of a record that is being created. */
export interface Created {
  readonly id: string;
  readonly platformId: string;
  /** ISO 8601; `day` is its midnight. */
  readonly now: string;
  readonly day: string;
  readonly homeCurrency: string;
}
