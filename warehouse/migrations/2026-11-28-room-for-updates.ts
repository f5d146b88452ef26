import { sql, type Kysely } from 'kysely';

/**
 * Rows that are updated find room on their own page, so no index has to be written (HOT): 15 % of a page is for that. Tables of millions of rows
 * are vacuumed and analyzed when a fiftieth has changed, and not a fifth. Both hold for what is written from now on.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(statements).execute(db);
}

const updated = [
  ...['bills', 'expenses', 'bill_credit_memos', 'customers', 'items', 'subscriptions'].map(
    (name) => `finance.${name}`,
  ),
  ...['connections', 'streams', 'passes', 'runs', 'run_streams', 'resource_clocks', 'hosts'].map(
    (name) => `sync.${name}`,
  ),
];

/** Their rows are deleted and inserted again when the record changes. */
const replaced = [
  'bill_lines',
  'bill_payment_allocations',
  'bill_credit_allocations',
  'bill_purchase_orders',
  'expense_lines',
  'bill_credit_memo_lines',
  'bill_credit_memo_allocations',
  'customer_addresses',
  'item_subsidiaries',
  'subscription_items',
].map((name) => `finance.${name}`);

const vacuumed = 'autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02';

const statements = [
  ...updated.map((table) => `alter table ${table} set (fillfactor = 85, ${vacuumed})`),
  ...replaced.map((table) => `alter table ${table} set (${vacuumed})`),
  // Only ever inserted: the map of what all can see is what its counts and exports read fast by.
  'alter table history.record_versions set (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02)',
  // Every row is deleted after seconds.
  'alter table sync.api_grants set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)',
].join(';\n');
