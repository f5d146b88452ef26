/**
 * Records as the API writes them, in raw JSON text. The value of a field is JSON text too (`'1.10'`, `'"open"'`), so that every digit,
 * escape and space reaches the code under test. A field given as undefined is left out.
 */
export type Fields = Readonly<Record<string, string | undefined>>;

/** API document 2.2. */
export function bill(id: string, fields: Fields = {}): string {
  return object({
    id: text(id),
    platform_id: text(`p-${id}`),
    account_id: '"account-1"',
    payment_terms_id: 'null',
    subsidiary_id: 'null',
    vendor_id: '"vendor-1"',
    due_date: '"2024-02-15T00:00:00.000Z"',
    issue_date: '"2024-01-15T00:00:00.000Z"',
    amount_due: '110.25',
    currency_code: '"USD"',
    status: '"open"',
    total_amount: '110.25',
    document_number: '"INV-1"',
    memo: 'null',
    sub_total: '100.25',
    tax_amount: '10',
    total_discount: 'null',
    linked_purchase_orders: '[]',
    currency_rate: '"1.0"',
    linked_credit_memos: '[]',
    linked_payments: '[]',
    line_items: list(billLine()),
    created_at: '"2024-01-15T09:30:00.000Z"',
    updated_at: '"2024-01-15T09:30:00.000Z"',
    last_synced_at: firstVersion,
    ...fields,
  });
}

/** API document 2.1. */
export function billLine(fields: Fields = {}): string {
  return object({
    account_id: '"account-2"',
    description: '"Paper"',
    sub_total: '100.25',
    tax_amount: '10',
    total_amount: '110.25',
    item: '{"id":"item-1","quantity":4,"unit_amount":25.0625}',
    ...fields,
  });
}

/** API document 2.1. */
export function allocation(linkedId: string, fields: Fields = {}): string {
  return object({
    id: text(linkedId),
    allocated_date: '"2024-01-20T00:00:00.000Z"',
    allocated_amount: '50.5',
    ...fields,
  });
}

/** API document 2.3. */
export function expense(id: string, fields: Fields = {}): string {
  return object({
    id: text(id),
    platform_id: text(`p-${id}`),
    account_id: '"account-1"',
    subsidiary_id: 'null',
    vendor_id: '"vendor-1"',
    transaction_date: '"2024-01-15T00:00:00.000Z"',
    currency_code: '"USD"',
    expense_type: '"expense"',
    currency_rate: '1.0',
    memo: 'null',
    line_items: '[{"account_id":"account-2","total_amount":12.5,"description":"Taxi"}]',
    created_at: 'null',
    updated_at: 'null',
    last_synced_at: firstVersion,
    ...fields,
  });
}

/** API document 2.4. */
export function billCreditMemo(id: string, fields: Fields = {}): string {
  return object({
    id: text(id),
    platform_id: text(`p-${id}`),
    account_id: '"account-1"',
    vendor_id: '"vendor-1"',
    issue_date: '"2024-01-15T00:00:00.000Z"',
    document_number: '"CM-1"',
    remaining_amount: '5',
    status: '"open"',
    total_amount: '25',
    currency_code: '"USD"',
    memo: 'null',
    linked_bills: list(allocation('bill-1')),
    line_items: list(billLine()),
    created_at: 'null',
    updated_at: 'null',
    last_synced_at: firstVersion,
    ...fields,
  });
}

/** API document 2.6. */
export function customer(id: string, fields: Fields = {}): string {
  return object({
    id: text(id),
    platform_id: text(`p-${id}`),
    subsidiary_id: 'null',
    status: '"ACTIVE"',
    contact_name: '"Ann Example"',
    currency_code: '"USD"',
    customer_name: '"Example Ltd"',
    email: '"ann@example.com"',
    phone: 'null',
    registration_number: 'null',
    tax_number: 'null',
    addresses: '[{"type":"billing","address1":"1 High Street","city":"Leeds","country":"GB"}]',
    updated_at: '"2024-01-15T09:30:00.000Z"',
    last_synced_at: firstVersion,
    ...fields,
  });
}

/** API document 2.7. */
export function item(id: string, fields: Fields = {}): string {
  return object({
    id: text(id),
    platform_id: text(`p-${id}`),
    status: '"active"',
    type: '"inventory"',
    code: '"SKU-1"',
    name: '"Paper"',
    quantity_on_hand: '12',
    subsidiaries: '[{"id":"subsidiary-1"}]',
    bill_item: '{"description":"Paper","unit_price":"20.5"}',
    invoice_item: '{"description":"Paper","unit_price":"25.0625"}',
    updated_at: '"2024-01-15T09:30:00.000Z"',
    last_synced_at: firstVersion,
    ...fields,
  });
}

/** API document 2.8. */
export function subscription(id: string, fields: Fields = {}): string {
  return object({
    id: text(id),
    platform_id: text(`p-${id}`),
    platform_customer_id: '"p-customer-1"',
    iso_currency_code: '"USD"',
    status: '"active"',
    items:
      '[{"platform_id":"p-1","interval":"month","interval_count":1,"quantity":2,"amount":40,"unit_amount":20}]',
    created_at: '"2024-01-01T00:00:00.000Z"',
    updated_at: '"2024-01-15T09:30:00.000Z"',
    ...fields,
  });
}

export function text(value: string): string {
  return JSON.stringify(value);
}

export function list(...elements: readonly string[]): string {
  return `[${elements.join(',')}]`;
}

export function object(fields: Fields): string {
  const members = Object.entries(fields).filter(([, value]) => value !== undefined);
  return `{${members.map(([name, value]) => `${text(name)}:${value ?? ''}`).join(',')}}`;
}

const firstVersion = '"2024-01-16T00:00:00.000Z"';
