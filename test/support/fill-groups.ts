import pg from 'pg';

/**
 * Puts the worst books we could think of straight into `finance`. Each shape is one connection in which `records` records of a kind belong
 * to one group, such as one vendor, number, amount and day, or the lines of one bill. A model that compares every pair of them costs the
 * square.
 */
export async function fillGroups(
  url: string,
  { records, shapes = Object.keys(shapeStatements) }: { records: number; shapes?: readonly string[] },
): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    for (const shape of shapes) await fillShape(client, { shape, records });
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
}

async function fillShape(
  client: pg.Client,
  { shape, records }: { shape: string; records: number },
): Promise<void> {
  await client.query(
    `insert into sync.connections (connection_id, api_address, token_sealed, platform) values ($1, 'bench', '\\x00', 'QUICKBOOKS')`,
    [shape],
  );
  await client.query(
    `insert into sync.streams (connection_id, stream, resource, capability, last_success_at)
     select $1, stream, stream, 'supported', now()
     from unnest(array['bills', 'bill_credit_memos', 'customers', 'items', 'subscriptions']) stream`,
    [shape],
  );
  for (const statement of shapeStatements[shape]?.(`'${shape}'`) ?? [])
    await client.query(statement.replaceAll('$n', String(records)));
}

/** Columns that every record ends with. */
const closingColumns = `last_synced_at, _run_id, _first_seen_at, _changed_at, _content_hash`;
const closingValues = `now(), 'bench', now(), now(), '\\x00'`;

type Expressions = Readonly<Record<string, string>>;

/** `i` counts from 1 to the number of rows. */
function inserted(table: string, rows: string, values: Expressions): string {
  return `insert into finance.${table} (${Object.keys(values).join(', ')}) select ${Object.values(values).join(', ')} from generate_series(1, ${rows}) i`;
}

function record(table: string, rows: string, values: Expressions): string {
  const columns = { ...values, [closingColumns]: closingValues };
  return inserted(table, rows, columns);
}

function bills(connection: string, rows: string, values: Expressions = {}): string {
  return record('bills', rows, {
    ...{ connection_id: connection, id: `'bill-' || i`, platform_id: `'p-' || i`, account_id: `'payable'` },
    ...{ vendor_id: `'vendor'`, issue_date: 'current_date - 40', due_date: 'current_date - 10' },
    ...{
      amount_due: '100',
      total_amount: '100',
      currency_code: `'USD'`,
      status: `'open'`,
      document_number: `'N-' || i`,
    },
    ...values,
  });
}

function billLines(connection: string, rows: string, values: Expressions = {}): string {
  return inserted('bill_lines', rows, {
    ...{
      connection_id: connection,
      bill_id: `'bill-' || i`,
      position: '0',
      account_id: `'account-' || i % 10`,
    },
    ...{ sub_total: '100', tax_amount: '0', total_amount: '100' },
    ...values,
  });
}

function credits(connection: string, rows: string, values: Expressions = {}): string {
  return record('bill_credit_memos', rows, {
    ...{ connection_id: connection, id: `'credit-' || i`, platform_id: `'p-' || i`, account_id: `'payable'` },
    ...{ vendor_id: `'vendor'`, issue_date: 'current_date - 40', document_number: `'C-' || i` },
    ...{ remaining_amount: '0', total_amount: '100', currency_code: `'USD'`, status: `'paid'` },
    ...values,
  });
}

function expenses(connection: string, rows: string, values: Expressions = {}): string {
  return record('expenses', rows, {
    ...{ connection_id: connection, id: `'expense-' || i`, platform_id: `'p-' || i`, account_id: `'card'` },
    ...{
      vendor_id: `'vendor'`,
      transaction_date: 'current_date - 40',
      currency_code: `'USD'`,
      expense_type: `'expense'`,
    },
    ...values,
  });
}

function expenseLines(connection: string, rows: string, values: Expressions = {}): string {
  return inserted('expense_lines', rows, {
    ...{
      connection_id: connection,
      expense_id: `'expense-' || i`,
      position: '0',
      account_id: `'account-' || i % 10`,
      total_amount: '100',
    },
    ...values,
  });
}

function allocations(table: string, owner: string, connection: string, values: Expressions): string {
  return inserted(table, '$n', {
    ...{ connection_id: connection, [owner]: `'one'`, position: 'i', linked_id: `'payment-' || i` },
    ...{ allocated_date: 'current_date - 60 + i % 50', allocated_amount: '0.01' },
    ...values,
  });
}

function customers(connection: string, values: Expressions): string {
  return record('customers', '$n', {
    ...{ connection_id: connection, id: `'customer-' || i`, platform_id: `'p-' || i`, status: `'ACTIVE'` },
    ...{ currency_code: `'USD'`, customer_name: `'One name'` },
    ...values,
  });
}

function versions(
  connection: string,
  rows: string,
  values: { id: string; at: string; items: string; customer?: string },
): string[] {
  const { id, at, items, customer = `'customer'` } = values;
  return [
    `insert into finance.subscriptions (connection_id, id, platform_id, platform_customer_id, iso_currency_code, status, created_at,
       updated_at, _run_id, _first_seen_at, _changed_at, _content_hash)
     select distinct ${connection}, ${id}, 'p', ${customer}, 'USD', 'active', now(), now(), 'bench', now(), now(), '\\x00'::bytea
     from generate_series(1, ${rows}) i`,
    `insert into history.record_versions (connection_id, resource, record_id, recorded_at, last_synced_at, op, payload, run_id)
     select ${connection}, 'subscriptions', ${id}, ${at}, now(), 'upsert', jsonb_build_object('status', case when i % 11 = 0 then 'paused'
       else 'active' end, 'platform_customer_id', ${customer}, 'iso_currency_code', 'USD', 'items', ${items}), 'bench'
     from generate_series(1, ${rows}) i`,
  ];
}

const item = `jsonb_build_object('interval', 'month', 'interval_count', 1, 'quantity', 1, 'amount', i, 'unit_amount', 1)`;
const buildItems = (count: string): string =>
  `(select jsonb_agg(${item.replace("'amount', i", "'amount', k")}) from generate_series(1, ${count}) k)`;

const shapeStatements: Readonly<Record<string, (connection: string) => string[]>> = {
  'one-number': (c) => [bills(c, '$n', { document_number: `'N-1'` }), billLines(c, '$n')],
  'one-number-other-amounts': (c) => [
    bills(c, '$n', { document_number: `'N-1'`, total_amount: 'i', amount_due: 'i' }),
  ],
  'one-number-no-vendor': (c) => [bills(c, '$n', { document_number: `'N-1'`, vendor_id: 'null' })],
  'one-amount': (c) => [bills(c, '$n')],
  'paid-by-card': (c) => [bills(c, '$n'), expenses(c, '$n'), expenseLines(c, '$n')],
  'everything-odd': (c) => [
    bills(c, '$n', {
      amount_due: '33.123456789123',
      issue_date: 'null',
      due_date: 'null',
      currency_code: 'null',
      status: `'novel'`,
    }),
    billLines(c, '$n', { total_amount: '1e30', account_id: `'payable'` }),
    expenses(c, '$n', { transaction_date: 'null', expense_type: `'odd'`, currency_code: `'EUR'` }),
    credits(c, '$n', { total_amount: '-5', status: `'odd'`, issue_date: 'null' }),
  ],
  'one-bill-of-lines': (c) => [
    bills(c, '1', { total_amount: '100 * $n' }),
    billLines(c, '$n', {
      bill_id: `'bill-1'`,
      position: 'i',
      tax_amount: 'i % 3',
      account_id: `'account-' || i`,
      class_id: `'class-' || i`,
    }),
  ],
  'one-credit-of-lines': (c) => [
    credits(c, '1', { total_amount: '100 * $n' }),
    billLines(c, '$n', { position: 'i' })
      .replace('finance.bill_lines', 'finance.bill_credit_memo_lines')
      .replace('bill_id', 'bill_credit_memo_id')
      .replace(`'bill-' || i`, `'credit-1'`),
  ],
  'one-expense-of-lines': (c) => [
    expenses(c, '1'),
    expenseLines(c, '$n', { expense_id: `'expense-1'`, position: 'i' }),
  ],
  'one-bill-of-rounded-lines': (c) => [
    bills(c, '1'),
    billLines(c, '$n', { bill_id: `'bill-1'`, position: 'i', total_amount: '1.1234567891234' }),
  ],
  'one-bill-of-payments': (c) => [
    bills(c, '1', { id: `'one'`, total_amount: '0.01 * $n', amount_due: '0', status: `'paid'` }),
    allocations('bill_payment_allocations', 'bill_id', c, {
      allocated_amount: 'case when i % 2 = 0 then 0.03 else -0.01 end',
    }),
  ],
  'one-payment-of-bills': (c) => [
    bills(c, '$n', { amount_due: '0', status: `'paid'` }),
    allocations('bill_payment_allocations', 'bill_id', c, {
      bill_id: `'bill-' || i`,
      position: '0',
      linked_id: `'payment'`,
      allocated_amount: '100',
    }),
  ],
  'one-bill-of-credits': (c) => [
    bills(c, '1', { id: `'one'`, total_amount: '0.01 * $n', amount_due: '0', status: `'paid'` }),
    credits(c, '$n', { total_amount: '0.01' }),
    allocations('bill_credit_allocations', 'bill_id', c, { linked_id: `'credit-' || i` }),
    allocations('bill_credit_memo_allocations', 'bill_credit_memo_id', c, {
      bill_credit_memo_id: `'credit-' || i`,
      position: '0',
      linked_id: `'one'`,
    }),
  ],
  'one-credit-of-bills': (c) => [
    bills(c, '$n', { total_amount: '0.01', amount_due: '0', status: `'paid'` }),
    credits(c, '1', { id: `'one'`, total_amount: '0.01 * $n' }),
    allocations('bill_credit_allocations', 'bill_id', c, {
      bill_id: `'bill-' || i`,
      position: '0',
      linked_id: `'one'`,
    }),
    allocations('bill_credit_memo_allocations', 'bill_credit_memo_id', c, { linked_id: `'bill-' || i` }),
  ],
  'one-bill-and-credit': (c) => [
    bills(c, '1', { id: `'one'`, total_amount: '0.01 * $n', amount_due: '0', status: `'paid'` }),
    credits(c, '1', { id: `'one'`, total_amount: '0.01 * $n' }),
    allocations('bill_credit_allocations', 'bill_id', c, { linked_id: `'one'` }),
    allocations('bill_credit_memo_allocations', 'bill_credit_memo_id', c, {
      linked_id: `'one'`,
      allocated_date: 'current_date - 60 + i % 47',
    }),
  ],
  'credits-of-nobody': (c) => [
    bills(c, '1', { id: `'one'` }),
    allocations('bill_credit_allocations', 'bill_id', c, {
      linked_id: `'missing-' || i`,
      allocated_date: 'null',
    }),
  ],
  'a-month-of-vendors': (c) => [
    bills(c, '$n', { vendor_id: `'vendor-' || i`, total_amount: '1 + i % 1000' }),
    billLines(c, '$n', {
      account_id: `'account-' || i`,
      class_id: `'class-' || i`,
      department_id: `'department-' || i`,
      location_id: `'location-' || i`,
    }),
  ],
  'a-currency-each': (c) => [
    bills(c, '$n', { currency_code: `'C' || i`, vendor_id: `'vendor-' || i` }),
    billLines(c, '$n'),
  ],
  'a-day-each': (c) => [
    bills(c, '$n', { issue_date: `date '1990-01-01' + i`, due_date: `date '2200-01-01' - i` }),
    billLines(c, '$n'),
  ],
  'one-parent': (c) => [customers(c, { parent_id: `case when i > 1 then 'customer-1' end` })],
  'a-line-of-parents': (c) => [customers(c, { parent_id: `case when i > 1 then 'customer-' || i - 1 end` })],
  'a-circle-of-parents': (c) => [customers(c, { parent_id: `'customer-' || i % $n + 1` })],
  'one-customer-of-addresses': (c) => [
    customers(c, { id: `'customer-' || i` }).replace('generate_series(1, $n)', 'generate_series(1, 1)'),
    inserted('customer_addresses', '$n', {
      ...{ connection_id: c, customer_id: `'customer-1'`, position: 'i', type: `'billing'`, city: `'Leeds'` },
    }),
  ],
  'one-name': (c) => [
    record('items', '$n', {
      ...{
        connection_id: c,
        id: `'item-' || i`,
        platform_id: `'p-' || i`,
        status: `'active'`,
        type: `'service'`,
      },
      ...{ code: `'SKU'`, name: `'One name'` },
    }),
  ],
  'one-subscription-of-items': (c) =>
    versions(c, '1', { id: `'subscription'`, at: `now() - interval '400 days'`, items: buildItems('$n') }),
  'one-subscription-of-versions': (c) =>
    versions(c, '$n', {
      id: `'subscription'`,
      at: `now() - i * interval '20 minutes'`,
      items: buildItems('1 + i % 3'),
    }),
  'one-customer-of-subscriptions': (c) =>
    versions(c, '$n', {
      id: `'subscription-' || i`,
      at: `now() - (i % 400) * interval '1 day'`,
      items: buildItems('1'),
    }),
  'a-customer-each': (c) =>
    versions(c, '$n', {
      id: `'subscription-' || i`,
      at: `now() - (i % 400) * interval '1 day'`,
      items: buildItems('1'),
      customer: `'customer-' || i`,
    }),
};

export const shapeNames: readonly string[] = Object.keys(shapeStatements);
