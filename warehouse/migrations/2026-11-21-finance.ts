import { sql, type Kysely } from 'kysely';

/** The tables people query. Written out and frozen: a test compares the live catalogue with the descriptors in resources/. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(financeTables).execute(db);
}

const financeTables = `
  create schema finance;
  comment on schema finance is 'Daybook: exactly what the API would return now';

  create table finance.bills (
    connection_id text collate "C" not null,
    id text collate "C" not null,
    platform_id text,
    account_id text,
    payment_terms_id text,
    subsidiary_id text,
    vendor_id text,
    due_date date,
    issue_date date,
    amount_due numeric,
    currency_code text,
    status text,
    total_amount numeric,
    document_number text,
    memo text,
    sub_total numeric,
    tax_amount numeric,
    total_discount numeric,
    currency_rate numeric,
    created_at timestamptz,
    updated_at timestamptz,
    last_synced_at timestamptz,
    platform_data jsonb,
    _run_id text not null,
    _first_seen_at timestamptz not null,
    _changed_at timestamptz not null,
    _content_hash bytea not null,
    primary key (connection_id, id)
  );
  comment on table finance.bills is 'Bills: issued by a vendor, to be paid by the business';
  comment on column finance.bills.connection_id is 'Connection the record belongs to';
  comment on column finance.bills.id is 'Service ID of the record';
  comment on column finance.bills.platform_id is 'ID of the record on the accounting platform';
  comment on column finance.bills.account_id is 'Accounts payable account that is credited';
  comment on column finance.bills.payment_terms_id is 'Payment terms';
  comment on column finance.bills.subsidiary_id is 'Subsidiary; one class of platforms only';
  comment on column finance.bills.vendor_id is 'Vendor';
  comment on column finance.bills.due_date is 'Day the bill is due, as written by the platform';
  comment on column finance.bills.issue_date is 'Day the bill was issued, as written by the platform';
  comment on column finance.bills.amount_due is 'Total minus applied payments and credit memos, in currency_code';
  comment on column finance.bills.currency_code is 'Currency of every amount of the bill (ISO 4217)';
  comment on column finance.bills.status is 'open, partially_paid, paid, void, draft, submitted, unknown; new values may appear';
  comment on column finance.bills.total_amount is 'Total of the bill, in currency_code';
  comment on column finance.bills.document_number is 'Number the buyer sees on the bill';
  comment on column finance.bills.memo is 'Memo';
  comment on column finance.bills.sub_total is 'Total without tax, in currency_code';
  comment on column finance.bills.tax_amount is 'Tax, in currency_code';
  comment on column finance.bills.total_discount is 'Discount, in currency_code';
  comment on column finance.bills.currency_rate is 'Exchange rate to the default currency of the business; some platforms only';
  comment on column finance.bills.created_at is 'Creation on the platform, by the platform clock; may be null';
  comment on column finance.bills.updated_at is 'Last change on the platform, by the platform clock; may be null';
  comment on column finance.bills.last_synced_at is 'Last sync by the service, by the service clock';
  comment on column finance.bills.platform_data is 'The raw platform record; null unless the connection was added with --expand-platform-data';
  comment on column finance.bills._run_id is 'Run that last changed the row';
  comment on column finance.bills._first_seen_at is 'When the warehouse first held the record, by the database clock';
  comment on column finance.bills._changed_at is 'When the content of the row last changed, by the database clock';
  comment on column finance.bills._content_hash is 'SHA-256 of the record as the API sent it, without last_synced_at';

  create table finance.bill_lines (
    connection_id text collate "C" not null,
    bill_id text collate "C" not null,
    position integer not null,
    account_id text,
    class_id text,
    customer_id text,
    department_id text,
    location_id text,
    tax_rate_id text,
    description text,
    discount_amount numeric,
    discount_percentage numeric,
    sub_total numeric,
    tax_amount numeric,
    total_amount numeric,
    item_id text,
    item_quantity numeric,
    item_unit_amount numeric,
    primary key (connection_id, bill_id, position)
  );
  comment on table finance.bill_lines is 'Lines of bills';
  comment on column finance.bill_lines.connection_id is 'Connection the record belongs to';
  comment on column finance.bill_lines.bill_id is 'id of the row in finance.bills';
  comment on column finance.bill_lines.position is 'Place in the list the API sent, from 0';
  comment on column finance.bill_lines.account_id is 'Debit account';
  comment on column finance.bill_lines.class_id is 'Class';
  comment on column finance.bill_lines.customer_id is 'Customer the cost is billable to';
  comment on column finance.bill_lines.department_id is 'Department';
  comment on column finance.bill_lines.location_id is 'Location';
  comment on column finance.bill_lines.tax_rate_id is 'Tax rate';
  comment on column finance.bill_lines.description is 'What was bought';
  comment on column finance.bill_lines.discount_amount is 'Discount of the line, in the currency of the document';
  comment on column finance.bill_lines.discount_percentage is 'Discount of the line, in percent';
  comment on column finance.bill_lines.sub_total is 'Line amount without tax, in the currency of the document';
  comment on column finance.bill_lines.tax_amount is 'Tax of the line, in the currency of the document';
  comment on column finance.bill_lines.total_amount is 'Line amount, in the currency of the document; with or without tax, as the platform has it';
  comment on column finance.bill_lines.item_id is 'Item bought';
  comment on column finance.bill_lines.item_quantity is 'How many of the item';
  comment on column finance.bill_lines.item_unit_amount is 'Price of one item, in the currency of the document';

  create table finance.bill_payment_allocations (
    connection_id text collate "C" not null,
    bill_id text collate "C" not null,
    position integer not null,
    linked_id text,
    allocated_date date,
    allocated_amount numeric,
    primary key (connection_id, bill_id, position)
  );
  comment on table finance.bill_payment_allocations is 'Payments applied to bills';
  comment on column finance.bill_payment_allocations.connection_id is 'Connection the record belongs to';
  comment on column finance.bill_payment_allocations.bill_id is 'id of the row in finance.bills';
  comment on column finance.bill_payment_allocations.position is 'Place in the list the API sent, from 0';
  comment on column finance.bill_payment_allocations.linked_id is 'Service ID of the document on the other side';
  comment on column finance.bill_payment_allocations.allocated_date is 'Day of the allocation, as written by the platform';
  comment on column finance.bill_payment_allocations.allocated_amount is 'Amount allocated, in the currency of the document';

  create table finance.bill_credit_allocations (
    connection_id text collate "C" not null,
    bill_id text collate "C" not null,
    position integer not null,
    linked_id text,
    allocated_date date,
    allocated_amount numeric,
    primary key (connection_id, bill_id, position)
  );
  comment on table finance.bill_credit_allocations is 'Credit memos applied to bills, as the bill tells it';
  comment on column finance.bill_credit_allocations.connection_id is 'Connection the record belongs to';
  comment on column finance.bill_credit_allocations.bill_id is 'id of the row in finance.bills';
  comment on column finance.bill_credit_allocations.position is 'Place in the list the API sent, from 0';
  comment on column finance.bill_credit_allocations.linked_id is 'Service ID of the document on the other side';
  comment on column finance.bill_credit_allocations.allocated_date is 'Day of the allocation, as written by the platform';
  comment on column finance.bill_credit_allocations.allocated_amount is 'Amount allocated, in the currency of the document';

  create table finance.bill_purchase_orders (
    connection_id text collate "C" not null,
    bill_id text collate "C" not null,
    position integer not null,
    linked_id text,
    primary key (connection_id, bill_id, position)
  );
  comment on table finance.bill_purchase_orders is 'Purchase orders that bills belong to';
  comment on column finance.bill_purchase_orders.connection_id is 'Connection the record belongs to';
  comment on column finance.bill_purchase_orders.bill_id is 'id of the row in finance.bills';
  comment on column finance.bill_purchase_orders.position is 'Place in the list the API sent, from 0';
  comment on column finance.bill_purchase_orders.linked_id is 'Service ID of the linked record';

  create table finance.expenses (
    connection_id text collate "C" not null,
    id text collate "C" not null,
    platform_id text,
    account_id text,
    subsidiary_id text,
    vendor_id text,
    transaction_date date,
    currency_code text,
    expense_type text,
    currency_rate numeric,
    memo text,
    created_at timestamptz,
    updated_at timestamptz,
    last_synced_at timestamptz,
    platform_data jsonb,
    _run_id text not null,
    _first_seen_at timestamptz not null,
    _changed_at timestamptz not null,
    _content_hash bytea not null,
    primary key (connection_id, id)
  );
  comment on table finance.expenses is 'Expenses and refunds: purchases paid by card, bank or another asset';
  comment on column finance.expenses.connection_id is 'Connection the record belongs to';
  comment on column finance.expenses.id is 'Service ID of the record';
  comment on column finance.expenses.platform_id is 'ID of the record on the accounting platform';
  comment on column finance.expenses.account_id is 'Account that is credited';
  comment on column finance.expenses.subsidiary_id is 'Subsidiary; one class of platforms only';
  comment on column finance.expenses.vendor_id is 'Vendor';
  comment on column finance.expenses.transaction_date is 'Day of the purchase, as written by the platform';
  comment on column finance.expenses.currency_code is 'Currency of every amount of the expense (ISO 4217)';
  comment on column finance.expenses.expense_type is 'expense or refund';
  comment on column finance.expenses.currency_rate is 'Exchange rate to the default currency of the business; some platforms only';
  comment on column finance.expenses.memo is 'Memo';
  comment on column finance.expenses.created_at is 'Creation on the platform, by the platform clock; may be null';
  comment on column finance.expenses.updated_at is 'Last change on the platform, by the platform clock; may be null';
  comment on column finance.expenses.last_synced_at is 'Last sync by the service, by the service clock';
  comment on column finance.expenses.platform_data is 'The raw platform record; null unless the connection was added with --expand-platform-data';
  comment on column finance.expenses._run_id is 'Run that last changed the row';
  comment on column finance.expenses._first_seen_at is 'When the warehouse first held the record, by the database clock';
  comment on column finance.expenses._changed_at is 'When the content of the row last changed, by the database clock';
  comment on column finance.expenses._content_hash is 'SHA-256 of the record as the API sent it, without last_synced_at';

  create table finance.expense_lines (
    connection_id text collate "C" not null,
    expense_id text collate "C" not null,
    position integer not null,
    account_id text,
    class_id text,
    customer_id text,
    department_id text,
    location_id text,
    tax_rate_id text,
    total_amount numeric,
    description text,
    primary key (connection_id, expense_id, position)
  );
  comment on table finance.expense_lines is 'Lines of expenses and refunds';
  comment on column finance.expense_lines.connection_id is 'Connection the record belongs to';
  comment on column finance.expense_lines.expense_id is 'id of the row in finance.expenses';
  comment on column finance.expense_lines.position is 'Place in the list the API sent, from 0';
  comment on column finance.expense_lines.account_id is 'Debit account';
  comment on column finance.expense_lines.class_id is 'Class';
  comment on column finance.expense_lines.customer_id is 'Customer the cost is billable to';
  comment on column finance.expense_lines.department_id is 'Department';
  comment on column finance.expense_lines.location_id is 'Location';
  comment on column finance.expense_lines.tax_rate_id is 'Tax rate';
  comment on column finance.expense_lines.total_amount is 'Line amount, in the currency of the expense; positive for a refund too';
  comment on column finance.expense_lines.description is 'What was bought';

  create table finance.bill_credit_memos (
    connection_id text collate "C" not null,
    id text collate "C" not null,
    platform_id text,
    account_id text,
    vendor_id text,
    issue_date date,
    document_number text,
    remaining_amount numeric,
    status text,
    total_amount numeric,
    currency_code text,
    memo text,
    created_at timestamptz,
    updated_at timestamptz,
    last_synced_at timestamptz,
    platform_data jsonb,
    _run_id text not null,
    _first_seen_at timestamptz not null,
    _changed_at timestamptz not null,
    _content_hash bytea not null,
    primary key (connection_id, id)
  );
  comment on table finance.bill_credit_memos is 'Bill credit memos: credits of a vendor that can be applied against bills';
  comment on column finance.bill_credit_memos.connection_id is 'Connection the record belongs to';
  comment on column finance.bill_credit_memos.id is 'Service ID of the record';
  comment on column finance.bill_credit_memos.platform_id is 'ID of the record on the accounting platform';
  comment on column finance.bill_credit_memos.account_id is 'Account that is credited, typically accounts payable';
  comment on column finance.bill_credit_memos.vendor_id is 'Vendor';
  comment on column finance.bill_credit_memos.issue_date is 'Day the credit was issued, as written by the platform';
  comment on column finance.bill_credit_memos.document_number is 'Number on the credit memo';
  comment on column finance.bill_credit_memos.remaining_amount is 'Amount not yet applied, in currency_code';
  comment on column finance.bill_credit_memos.status is 'open, partially_paid, paid, void, draft, submitted, unknown; new values may appear';
  comment on column finance.bill_credit_memos.total_amount is 'Total of the credit, in currency_code';
  comment on column finance.bill_credit_memos.currency_code is 'Currency of every amount of the credit memo (ISO 4217)';
  comment on column finance.bill_credit_memos.memo is 'Memo';
  comment on column finance.bill_credit_memos.created_at is 'Creation on the platform, by the platform clock; may be null';
  comment on column finance.bill_credit_memos.updated_at is 'Last change on the platform, by the platform clock; may be null';
  comment on column finance.bill_credit_memos.last_synced_at is 'Last sync by the service, by the service clock';
  comment on column finance.bill_credit_memos.platform_data is 'The raw platform record; null unless the connection was added with --expand-platform-data';
  comment on column finance.bill_credit_memos._run_id is 'Run that last changed the row';
  comment on column finance.bill_credit_memos._first_seen_at is 'When the warehouse first held the record, by the database clock';
  comment on column finance.bill_credit_memos._changed_at is 'When the content of the row last changed, by the database clock';
  comment on column finance.bill_credit_memos._content_hash is 'SHA-256 of the record as the API sent it, without last_synced_at';

  create table finance.bill_credit_memo_lines (
    connection_id text collate "C" not null,
    bill_credit_memo_id text collate "C" not null,
    position integer not null,
    account_id text,
    class_id text,
    customer_id text,
    department_id text,
    location_id text,
    tax_rate_id text,
    description text,
    discount_amount numeric,
    discount_percentage numeric,
    sub_total numeric,
    tax_amount numeric,
    total_amount numeric,
    item_id text,
    item_quantity numeric,
    item_unit_amount numeric,
    primary key (connection_id, bill_credit_memo_id, position)
  );
  comment on table finance.bill_credit_memo_lines is 'Lines of bill credit memos';
  comment on column finance.bill_credit_memo_lines.connection_id is 'Connection the record belongs to';
  comment on column finance.bill_credit_memo_lines.bill_credit_memo_id is 'id of the row in finance.bill_credit_memos';
  comment on column finance.bill_credit_memo_lines.position is 'Place in the list the API sent, from 0';
  comment on column finance.bill_credit_memo_lines.account_id is 'Debit account';
  comment on column finance.bill_credit_memo_lines.class_id is 'Class';
  comment on column finance.bill_credit_memo_lines.customer_id is 'Customer the cost is billable to';
  comment on column finance.bill_credit_memo_lines.department_id is 'Department';
  comment on column finance.bill_credit_memo_lines.location_id is 'Location';
  comment on column finance.bill_credit_memo_lines.tax_rate_id is 'Tax rate';
  comment on column finance.bill_credit_memo_lines.description is 'What was bought';
  comment on column finance.bill_credit_memo_lines.discount_amount is 'Discount of the line, in the currency of the document';
  comment on column finance.bill_credit_memo_lines.discount_percentage is 'Discount of the line, in percent';
  comment on column finance.bill_credit_memo_lines.sub_total is 'Line amount without tax, in the currency of the document';
  comment on column finance.bill_credit_memo_lines.tax_amount is 'Tax of the line, in the currency of the document';
  comment on column finance.bill_credit_memo_lines.total_amount is 'Line amount, in the currency of the document; with or without tax, as the platform has it';
  comment on column finance.bill_credit_memo_lines.item_id is 'Item bought';
  comment on column finance.bill_credit_memo_lines.item_quantity is 'How many of the item';
  comment on column finance.bill_credit_memo_lines.item_unit_amount is 'Price of one item, in the currency of the document';

  create table finance.bill_credit_memo_allocations (
    connection_id text collate "C" not null,
    bill_credit_memo_id text collate "C" not null,
    position integer not null,
    linked_id text,
    allocated_date date,
    allocated_amount numeric,
    primary key (connection_id, bill_credit_memo_id, position)
  );
  comment on table finance.bill_credit_memo_allocations is 'Bills that credit memos were applied to, as the credit memo tells it: the mirror of bill_credit_allocations';
  comment on column finance.bill_credit_memo_allocations.connection_id is 'Connection the record belongs to';
  comment on column finance.bill_credit_memo_allocations.bill_credit_memo_id is 'id of the row in finance.bill_credit_memos';
  comment on column finance.bill_credit_memo_allocations.position is 'Place in the list the API sent, from 0';
  comment on column finance.bill_credit_memo_allocations.linked_id is 'Service ID of the document on the other side';
  comment on column finance.bill_credit_memo_allocations.allocated_date is 'Day of the allocation, as written by the platform';
  comment on column finance.bill_credit_memo_allocations.allocated_amount is 'Amount allocated, in the currency of the document';

  create table finance.customers (
    connection_id text collate "C" not null,
    id text collate "C" not null,
    platform_id text,
    parent_id text,
    subsidiary_id text,
    status text,
    contact_name text,
    currency_code text,
    customer_name text,
    email text,
    phone text,
    registration_number text,
    tax_number text,
    updated_at timestamptz,
    last_synced_at timestamptz,
    platform_data jsonb,
    _run_id text not null,
    _first_seen_at timestamptz not null,
    _changed_at timestamptz not null,
    _content_hash bytea not null,
    primary key (connection_id, id)
  );
  comment on table finance.customers is 'Customers: persons and companies that buy from the business';
  comment on column finance.customers.connection_id is 'Connection the record belongs to';
  comment on column finance.customers.id is 'Service ID of the record';
  comment on column finance.customers.platform_id is 'ID of the record on the accounting platform';
  comment on column finance.customers.parent_id is 'Parent customer; one class of platforms only';
  comment on column finance.customers.subsidiary_id is 'Subsidiary; one class of platforms only';
  comment on column finance.customers.status is 'ACTIVE, INACTIVE, UNKNOWN; new values may appear';
  comment on column finance.customers.contact_name is 'Primary contact';
  comment on column finance.customers.currency_code is 'Currency of the customer (ISO 4217)';
  comment on column finance.customers.customer_name is 'Business name';
  comment on column finance.customers.email is 'E-mail address';
  comment on column finance.customers.phone is 'Telephone number';
  comment on column finance.customers.registration_number is 'Registration number';
  comment on column finance.customers.tax_number is 'Tax number';
  comment on column finance.customers.updated_at is 'Last change on the platform, by the platform clock; may be null';
  comment on column finance.customers.last_synced_at is 'Last sync by the service, by the service clock';
  comment on column finance.customers.platform_data is 'The raw platform record; null unless the connection was added with --expand-platform-data';
  comment on column finance.customers._run_id is 'Run that last changed the row';
  comment on column finance.customers._first_seen_at is 'When the warehouse first held the record, by the database clock';
  comment on column finance.customers._changed_at is 'When the content of the row last changed, by the database clock';
  comment on column finance.customers._content_hash is 'SHA-256 of the record as the API sent it, without last_synced_at';

  create table finance.customer_addresses (
    connection_id text collate "C" not null,
    customer_id text collate "C" not null,
    position integer not null,
    type text,
    address1 text,
    address2 text,
    city text,
    country text,
    postal_code text,
    region text,
    primary key (connection_id, customer_id, position)
  );
  comment on table finance.customer_addresses is 'Addresses of customers';
  comment on column finance.customer_addresses.connection_id is 'Connection the record belongs to';
  comment on column finance.customer_addresses.customer_id is 'id of the row in finance.customers';
  comment on column finance.customer_addresses.position is 'Place in the list the API sent, from 0';
  comment on column finance.customer_addresses.type is 'Kind of address, for example billing or shipping; any text may appear';
  comment on column finance.customer_addresses.address1 is 'First line';
  comment on column finance.customer_addresses.address2 is 'Second line';
  comment on column finance.customer_addresses.city is 'City';
  comment on column finance.customer_addresses.country is 'Country';
  comment on column finance.customer_addresses.postal_code is 'Postal code';
  comment on column finance.customer_addresses.region is 'Region';

  create table finance.items (
    connection_id text collate "C" not null,
    id text collate "C" not null,
    platform_id text,
    status text,
    type text,
    code text,
    name text,
    quantity_on_hand numeric,
    bill_description text,
    bill_unit_price numeric,
    invoice_description text,
    invoice_unit_price numeric,
    updated_at timestamptz,
    last_synced_at timestamptz,
    platform_data jsonb,
    _run_id text not null,
    _first_seen_at timestamptz not null,
    _changed_at timestamptz not null,
    _content_hash bytea not null,
    primary key (connection_id, id)
  );
  comment on table finance.items is 'Items: goods and services the business sells';
  comment on column finance.items.connection_id is 'Connection the record belongs to';
  comment on column finance.items.id is 'Service ID of the record';
  comment on column finance.items.platform_id is 'ID of the record on the accounting platform';
  comment on column finance.items.status is 'active, archived, unknown; new values may appear';
  comment on column finance.items.type is 'inventory, non_inventory, service, discount, unknown; new values may appear';
  comment on column finance.items.code is 'Reference code';
  comment on column finance.items.name is 'Name';
  comment on column finance.items.quantity_on_hand is 'Stock; only meaningful for inventory, some platforms only';
  comment on column finance.items.bill_description is 'Description on the purchase side';
  comment on column finance.items.bill_unit_price is 'Price of one on the purchase side';
  comment on column finance.items.invoice_description is 'Description on the sales side';
  comment on column finance.items.invoice_unit_price is 'Price of one on the sales side';
  comment on column finance.items.updated_at is 'Last change on the platform, by the platform clock; may be null';
  comment on column finance.items.last_synced_at is 'Last sync by the service, by the service clock';
  comment on column finance.items.platform_data is 'The raw platform record; null unless the connection was added with --expand-platform-data';
  comment on column finance.items._run_id is 'Run that last changed the row';
  comment on column finance.items._first_seen_at is 'When the warehouse first held the record, by the database clock';
  comment on column finance.items._changed_at is 'When the content of the row last changed, by the database clock';
  comment on column finance.items._content_hash is 'SHA-256 of the record as the API sent it, without last_synced_at';

  create table finance.item_subsidiaries (
    connection_id text collate "C" not null,
    item_id text collate "C" not null,
    position integer not null,
    linked_id text,
    primary key (connection_id, item_id, position)
  );
  comment on table finance.item_subsidiaries is 'Subsidiaries that items belong to';
  comment on column finance.item_subsidiaries.connection_id is 'Connection the record belongs to';
  comment on column finance.item_subsidiaries.item_id is 'id of the row in finance.items';
  comment on column finance.item_subsidiaries.position is 'Place in the list the API sent, from 0';
  comment on column finance.item_subsidiaries.linked_id is 'Service ID of the linked record';

  create table finance.subscriptions (
    connection_id text collate "C" not null,
    id text collate "C" not null,
    platform_id text,
    platform_customer_id text,
    iso_currency_code text,
    status text,
    created_at timestamptz,
    updated_at timestamptz,
    _run_id text not null,
    _first_seen_at timestamptz not null,
    _changed_at timestamptz not null,
    _content_hash bytea not null,
    primary key (connection_id, id)
  );
  comment on table finance.subscriptions is 'Subscriptions: recurring purchases';
  comment on column finance.subscriptions.connection_id is 'Connection the record belongs to';
  comment on column finance.subscriptions.id is 'Service ID of the record';
  comment on column finance.subscriptions.platform_id is 'ID of the record on the accounting platform';
  comment on column finance.subscriptions.platform_customer_id is 'ID of the customer on the platform';
  comment on column finance.subscriptions.iso_currency_code is 'Currency of every amount of the subscription (ISO 4217)';
  comment on column finance.subscriptions.status is 'active, in_trial, canceled, paused, unknown; new values may appear';
  comment on column finance.subscriptions.created_at is 'Creation on the platform, by the platform clock; may be null';
  comment on column finance.subscriptions.updated_at is 'Last change on the platform, by the platform clock; may be null';
  comment on column finance.subscriptions._run_id is 'Run that last changed the row';
  comment on column finance.subscriptions._first_seen_at is 'When the warehouse first held the record, by the database clock';
  comment on column finance.subscriptions._changed_at is 'When the content of the row last changed, by the database clock';
  comment on column finance.subscriptions._content_hash is 'SHA-256 of the record as the API sent it, without last_synced_at';

  create table finance.subscription_items (
    connection_id text collate "C" not null,
    subscription_id text collate "C" not null,
    position integer not null,
    platform_id text,
    interval text,
    interval_count bigint,
    quantity numeric,
    amount numeric,
    unit_amount numeric,
    primary key (connection_id, subscription_id, position)
  );
  comment on table finance.subscription_items is 'Items of subscriptions';
  comment on column finance.subscription_items.connection_id is 'Connection the record belongs to';
  comment on column finance.subscription_items.subscription_id is 'id of the row in finance.subscriptions';
  comment on column finance.subscription_items.position is 'Place in the list the API sent, from 0';
  comment on column finance.subscription_items.platform_id is 'ID of the item on the platform';
  comment on column finance.subscription_items.interval is 'Unit of the billing period: day, week, month, year; any text may appear';
  comment on column finance.subscription_items.interval_count is 'How many intervals one billing period has';
  comment on column finance.subscription_items.quantity is 'How many are subscribed to';
  comment on column finance.subscription_items.amount is 'Price of one billing period, in iso_currency_code';
  comment on column finance.subscription_items.unit_amount is 'Price of one, in iso_currency_code';
`;
