/**
 * The expected content of the tables, written down from section 2 of the API document. Deliberately not taken from the product's own
 * descriptors, which tests must be able to prove wrong.
 */
export interface SourceTable {
  readonly table: string;
  readonly fields: readonly SourceField[];
  readonly children: readonly SourceChild[];
}

export interface SourceChild {
  readonly table: string;
  readonly parentKey: string;
  readonly from: string;
  readonly fields: readonly SourceField[];
}

export interface SourceField {
  readonly column: string;
  readonly path: readonly string[];
  readonly kind: FieldKind;
}

export type FieldKind = 'id' | 'text' | 'code' | 'date' | 'time' | 'number' | 'decimal text' | 'json';

/** Parses `kind: names`, in which a name is a column or `column=path.in.the.record`. */
function fields(kinds: Partial<Record<FieldKind, string>>): SourceField[] {
  return Object.entries(kinds).flatMap(([kind, names]) =>
    names.split(' ').map((name) => {
      const [column = '', path = column] = name.split('=');
      return { column, path: path.split('.'), kind: kind as FieldKind };
    }),
  );
}

const documentLine = fields({
  id: 'account_id class_id customer_id department_id location_id tax_rate_id item_id=item.id',
  text: 'description',
  number:
    'discount_amount discount_percentage sub_total tax_amount total_amount item_quantity=item.quantity item_unit_amount=item.unit_amount',
});

const allocation = fields({ id: 'linked_id=id', date: 'allocated_date', number: 'allocated_amount' });

const link = fields({ id: 'linked_id=id' });

export const sourceTables: readonly SourceTable[] = [
  {
    table: 'bills',
    fields: fields({
      id: 'id platform_id account_id payment_terms_id subsidiary_id vendor_id',
      text: 'status document_number memo',
      code: 'currency_code',
      date: 'due_date issue_date',
      time: 'created_at updated_at last_synced_at',
      number: 'amount_due total_amount sub_total tax_amount total_discount',
      'decimal text': 'currency_rate',
      json: 'platform_data',
    }),
    children: [
      { table: 'bill_lines', parentKey: 'bill_id', from: 'line_items', fields: documentLine },
      {
        table: 'bill_payment_allocations',
        parentKey: 'bill_id',
        from: 'linked_payments',
        fields: allocation,
      },
      {
        table: 'bill_credit_allocations',
        parentKey: 'bill_id',
        from: 'linked_credit_memos',
        fields: allocation,
      },
      { table: 'bill_purchase_orders', parentKey: 'bill_id', from: 'linked_purchase_orders', fields: link },
    ],
  },
  {
    table: 'expenses',
    fields: fields({
      id: 'id platform_id account_id subsidiary_id vendor_id',
      text: 'expense_type memo',
      code: 'currency_code',
      date: 'transaction_date',
      time: 'created_at updated_at last_synced_at',
      number: 'currency_rate',
      json: 'platform_data',
    }),
    children: [
      {
        table: 'expense_lines',
        parentKey: 'expense_id',
        from: 'line_items',
        fields: fields({
          id: 'account_id class_id customer_id department_id location_id tax_rate_id',
          text: 'description',
          number: 'total_amount',
        }),
      },
    ],
  },
  {
    table: 'bill_credit_memos',
    fields: fields({
      id: 'id platform_id account_id vendor_id',
      text: 'document_number status memo',
      code: 'currency_code',
      date: 'issue_date',
      time: 'created_at updated_at last_synced_at',
      number: 'remaining_amount total_amount',
      json: 'platform_data',
    }),
    children: [
      {
        table: 'bill_credit_memo_lines',
        parentKey: 'bill_credit_memo_id',
        from: 'line_items',
        fields: documentLine,
      },
      {
        table: 'bill_credit_memo_allocations',
        parentKey: 'bill_credit_memo_id',
        from: 'linked_bills',
        fields: allocation,
      },
    ],
  },
  {
    table: 'customers',
    fields: fields({
      id: 'id platform_id parent_id subsidiary_id',
      text: 'status contact_name customer_name email phone registration_number tax_number',
      code: 'currency_code',
      time: 'updated_at last_synced_at',
      json: 'platform_data',
    }),
    children: [
      {
        table: 'customer_addresses',
        parentKey: 'customer_id',
        from: 'addresses',
        fields: fields({ text: 'type address1 address2 city country postal_code region' }),
      },
    ],
  },
  {
    table: 'items',
    fields: fields({
      id: 'id platform_id',
      text: 'status type name bill_description=bill_item.description invoice_description=invoice_item.description',
      code: 'code',
      time: 'updated_at last_synced_at',
      number: 'quantity_on_hand',
      'decimal text': 'bill_unit_price=bill_item.unit_price invoice_unit_price=invoice_item.unit_price',
      json: 'platform_data',
    }),
    children: [{ table: 'item_subsidiaries', parentKey: 'item_id', from: 'subsidiaries', fields: link }],
  },
  {
    table: 'subscriptions',
    fields: fields({
      id: 'id platform_id platform_customer_id',
      text: 'status',
      code: 'iso_currency_code',
      time: 'created_at updated_at',
    }),
    children: [
      {
        table: 'subscription_items',
        parentKey: 'subscription_id',
        from: 'items',
        fields: fields({
          id: 'platform_id',
          text: 'interval',
          number: 'interval_count quantity amount unit_amount',
        }),
      },
    ],
  },
];
