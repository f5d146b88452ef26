import pg from 'pg';

/**
 * Inserts the books of four companies directly into `finance`: bills of three years with three lines each and their settlements, and a
 * proportional number of credits, expenses, customers, items, and subscriptions with a history. Only today's date differs between runs.
 */
export async function fillBooks(url: string, { bills }: { bills: number }): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  for (const statement of statements) {
    // A statement without a placeholder takes no value.
    await client.query(statement, statement.includes('$1') ? [bills] : []);
  }
  await client.query('vacuum analyze');
  await client.end();
}

/** The last columns of every record. */
const closing = `last_synced_at, _run_id, _first_seen_at, _changed_at, _content_hash`;
const closingValues = `now(), 'bench', now(), now(), '\\x00'`;

/** Yen have no decimals, dinars three. */
const currency = `(array['USD', 'USD', 'USD', 'USD', 'EUR', 'EUR', 'GBP', 'JPY', 'KWD'])[1 + i % 9]`;
const amount = `case i % 9 when 7 then 1 + i * 7919 % 900000 when 8 then (1 + i * 7919 % 900000) / 1000.0
  else (1 + i * 7919 % 900000) / 100.0 end`;
const issued = `current_date - (i * 104729 % 1095)::int`;

const statements = [
  `insert into sync.connections (connection_id, api_address, token_sealed, platform)
   select 'co-' || i, 'bench', '\\x00', (array['QUICKBOOKS', 'XERO', 'NETSUITE', 'STRIPE'])[i + 1] from generate_series(0, 3) i`,

  `insert into sync.streams (connection_id, stream, resource, capability, last_success_at)
   select connection_id, stream, stream, 'supported', now()
   from sync.connections, unnest(array['bills', 'bill_credit_memos', 'customers', 'items', 'subscriptions']) stream`,

  `insert into finance.bills (connection_id, id, platform_id, account_id, vendor_id, due_date, issue_date, amount_due, currency_code,
     status, total_amount, document_number, memo, sub_total, tax_amount, currency_rate, created_at, updated_at, ${closing})
   select 'co-' || i % 4, 'bill-' || md5(i::text), 'p-' || i, 'payable-' || i % 3, 'vendor-' || i * 31 % 800,
     issued + 30, issued, case status when 'open' then total when 'partially_paid' then total - trunc(total / 2) else 0 end,
     currency, status, total, 'INV-' || i - i % 997 / 996, 'memo of bill ' || i, total, 0,
     case when currency <> 'USD' then 1.0812 + i % 100 / 1000000.0 end, now(), now(), ${closingValues}
   from (
     select i, ${issued} as issued, ${currency} as currency, ${amount} as total,
       case when i % 40 = 0 then 'void' when i % 41 = 0 then 'draft' when i * 104729 % 1095 < 60 then 'open'
         when i % 10 = 0 then 'partially_paid' else 'paid' end as status
     from generate_series(1::bigint, $1::bigint) i
   ) as made`,

  `insert into finance.bill_lines (connection_id, bill_id, position, account_id, class_id, department_id, location_id, description,
     sub_total, tax_amount, total_amount, item_id, item_quantity, item_unit_amount)
   select connection_id, id, position, 'account-' || (length(memo) + position * 13 + total_amount::bigint) % 60, 'class-' || position % 2,
     'department-' || total_amount::bigint % 8, 'location-' || total_amount::bigint % 5, 'line of a bill', part, 0, part,
     'item-' || total_amount::bigint % 200, 4, 25.0625
   from finance.bills, generate_series(0, 2) position,
     lateral (select case position when 2 then total_amount - 2 * trunc(total_amount / 3) else trunc(total_amount / 3) end as part) as cut`,

  `insert into finance.bill_payment_allocations (connection_id, bill_id, position, linked_id, allocated_date, allocated_amount)
   select connection_id, id, 0, 'payment-' || id, issue_date + 10 + total_amount::int % 50, total_amount - amount_due
   from finance.bills where status in ('paid', 'partially_paid')`,

  `insert into finance.bill_credit_memos (connection_id, id, platform_id, account_id, vendor_id, issue_date, document_number,
     remaining_amount, status, total_amount, currency_code, ${closing})
   select 'co-' || i % 4, 'credit-' || i, 'p-' || i, 'payable-' || i % 3, 'vendor-' || i * 31 % 800, ${issued}, 'CM-' || i,
     case when i % 3 = 0 then ${amount} else 0 end, case when i % 3 = 0 then 'open' else 'paid' end, ${amount}, ${currency}, ${closingValues}
   from generate_series(1::bigint, $1::bigint / 20) i`,

  `insert into finance.bill_credit_memo_lines (connection_id, bill_credit_memo_id, position, account_id, description, sub_total, total_amount)
   select connection_id, id, 0, 'account-' || total_amount::bigint % 60, 'line of a credit', total_amount, total_amount
   from finance.bill_credit_memos`,

  `insert into finance.bill_credit_memo_allocations (connection_id, bill_credit_memo_id, position, linked_id, allocated_date, allocated_amount)
   select connection_id, id, 0, 'bill-' || md5(substr(platform_id, 3)), issue_date + 5, total_amount
   from finance.bill_credit_memos where remaining_amount = 0`,

  `insert into finance.bill_credit_allocations (connection_id, bill_id, position, linked_id, allocated_date, allocated_amount)
   select connection_id, linked_id, 0, bill_credit_memo_id, allocated_date, allocated_amount from finance.bill_credit_memo_allocations`,

  `insert into finance.expenses (connection_id, id, platform_id, account_id, vendor_id, transaction_date, currency_code, expense_type,
     currency_rate, memo, ${closing})
   select 'co-' || i % 4, 'expense-' || i, 'p-' || i, 'card-' || i % 4, 'vendor-' || i * 31 % 800, ${issued}, ${currency},
     case when i % 25 = 0 then 'refund' else 'expense' end, 1.0812, 'memo of expense ' || i, ${closingValues}
   from generate_series(1::bigint, $1::bigint / 3) i`,

  `insert into finance.expense_lines (connection_id, expense_id, position, account_id, class_id, department_id, total_amount, description)
   select 'co-' || i % 4, 'expense-' || i, position, 'account-' || (i + position) % 60, 'class-' || position, 'department-' || i % 8,
     ${amount}, 'line of an expense'
   from generate_series(1::bigint, $1::bigint / 3) i, generate_series(0, 1) position`,

  `insert into finance.customers (connection_id, id, platform_id, parent_id, status, currency_code, customer_name, ${closing})
   select 'co-' || i % 4, 'customer-' || i, 'p-' || i, case when i % 5 = 0 then 'customer-' || i / 8 * 4 + i % 4 end, 'ACTIVE',
     'USD', 'Customer ' || i, ${closingValues}
   from generate_series(1::bigint, $1::bigint / 10) i`,

  `insert into finance.customer_addresses (connection_id, customer_id, position, type, address1, city, country)
   select connection_id, id, position, (array['billing', 'shipping'])[position + 1], '1 High Street', 'Leeds', 'GB'
   from finance.customers, generate_series(0, 1) position`,

  `insert into finance.items (connection_id, id, platform_id, status, type, code, name, quantity_on_hand, bill_unit_price,
     invoice_unit_price, ${closing})
   select 'co-' || i % 4, 'item-' || i, 'p-' || i, 'active', 'service', 'SKU-' || i, 'Item ' || i, i % 90, ${amount}, ${amount}, ${closingValues}
   from generate_series(1::bigint, $1::bigint / 20) i`,

  `insert into finance.subscriptions (connection_id, id, platform_id, platform_customer_id, iso_currency_code, status, created_at,
     updated_at, _run_id, _first_seen_at, _changed_at, _content_hash)
   select 'co-3', 'subscription-' || i, 'p-' || i, 'p-' || i % 700, ${currency}, 'active', now(), now(), 'bench', now(), now(), '\\x00'
   from generate_series(1::bigint, $1::bigint / 20) i`,

  `insert into history.record_versions (connection_id, resource, record_id, recorded_at, last_synced_at, op, payload, run_id)
   select 'co-3', 'subscriptions', 'subscription-' || i, now() - (i * 104729 % 300 + version * 200) * interval '1 day', now(), 'upsert',
     jsonb_build_object('status', case when (i + version) % 11 = 0 then 'paused' else 'active' end, 'platform_customer_id', 'p-' || i % 700,
       'iso_currency_code', ${currency}, 'items', jsonb_build_array(jsonb_build_object('interval', 'month',
         'interval_count', 1 + i % 3, 'quantity', 1 + version, 'amount', ${amount}, 'unit_amount', 1))), 'bench'
   from generate_series(1::bigint, $1::bigint / 20) i, generate_series(0, 3) version`,
];
