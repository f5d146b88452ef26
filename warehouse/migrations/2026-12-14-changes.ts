import { sql, type Kysely } from 'kysely';

/**
 * What has changed since an export is known without a look at every row: landings count what they change, connection by connection and
 * resource by resource; of whatever else writes to a table, a release before 0.6 or a person, it is noted that it did.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(counts).execute(db);
  for (const [table, resource] of Object.entries(tables))
    await sql.raw(triggersOf(table, resource)).execute(db);
  await sql.raw(tombstones).execute(db);
}

const counts = `
  alter table sync.resource_clocks add column changes bigint not null default 0;
  comment on column sync.resource_clocks.changes is
    'How many transactions have changed rows of finance or tombstones of the resource, of those that say whose they are (daybook.landing)';

  create table sync.uncounted_changes (
    table_name text collate "C" not null,
    transaction_id bigint not null,
    primary key (table_name, transaction_id)
  );
  comment on table sync.uncounted_changes is
    'Transactions that wrote to a table without saying of which connection; the next export weighs all of it, and forgets them';
  comment on column sync.uncounted_changes.table_name is 'Table, with its schema';
  comment on column sync.uncounted_changes.transaction_id is 'Transaction, as pg_current_xact_id() names it';

  create table sync.table_weights (
    table_name text collate "C" not null,
    connection_id text collate "C" not null,
    changes bigint not null,
    rows bigint not null,
    mark text collate "C" not null,
    primary key (table_name, connection_id)
  );
  comment on table sync.table_weights is 'How many rows a connection had in a table when an export looked last, and a mark of them';
  comment on column sync.table_weights.table_name is 'Table of a snapshot';
  comment on column sync.table_weights.connection_id is 'Connection';
  comment on column sync.table_weights.changes is 'How often the rows had been changed by then: sync.resource_clocks.changes; -1 where nothing counts them';
  comment on column sync.table_weights.rows is 'Rows';
  comment on column sync.table_weights.mark is 'Another one when the rows are others';

  create function sync.note_change() returns trigger
  language plpgsql security definer set search_path = pg_catalog as $$
  declare
    scope text := coalesce(current_setting('daybook.landing', true), '');
    resource_landing text := split_part(scope, '/', 1);
  begin
    if scope <> '' and tg_argv[0] in (resource_landing, '') then
      if current_setting('daybook.counted', true) = scope then
        return null;
      end if;
      update sync.resource_clocks set changes = changes + 1
      where connection_id = split_part(scope, '/', 2) and resource = resource_landing;
      if found then
        perform set_config('daybook.counted', scope, true);
        return null;
      end if;
    end if;
    insert into sync.uncounted_changes (table_name, transaction_id)
    values (tg_table_schema || '.' || tg_table_name, pg_current_xact_id()::text::bigint)
    on conflict do nothing;
    return null;
  end $$;
  comment on function sync.note_change() is
    'Counts a change for the connection and resource that its transaction lands (daybook.landing: resource/connection), or notes that it was not counted';
`;

/** By the resource whose rows they hold. */
const tables: Readonly<Record<string, string>> = {
  'finance.bills': 'bills',
  'finance.bill_lines': 'bills',
  'finance.bill_payment_allocations': 'bills',
  'finance.bill_credit_allocations': 'bills',
  'finance.bill_purchase_orders': 'bills',
  'finance.expenses': 'expenses',
  'finance.expense_lines': 'expenses',
  'finance.bill_credit_memos': 'bill_credit_memos',
  'finance.bill_credit_memo_lines': 'bill_credit_memos',
  'finance.bill_credit_memo_allocations': 'bill_credit_memos',
  'finance.customers': 'customers',
  'finance.customer_addresses': 'customers',
  'finance.items': 'items',
  'finance.item_subsidiaries': 'items',
  'finance.subscriptions': 'subscriptions',
  'finance.subscription_items': 'subscriptions',
};

/** Always: a restore that switches triggers off changes rows too. */
function triggersOf(table: string, resource: string): string {
  return `
    create trigger note_change after insert or update or delete or truncate on ${table}
      for each statement execute function sync.note_change('${resource}');
    alter table ${table} enable always trigger note_change;`;
}

/** Of any resource. Row by row, for landings look for some that are not there; there are few. */
const tombstones = `
  create trigger note_change after insert or update or delete on sync.tombstones
    for each row execute function sync.note_change('');
  alter table sync.tombstones enable always trigger note_change;
  create trigger note_emptied after truncate on sync.tombstones
    for each statement execute function sync.note_change('');
  alter table sync.tombstones enable always trigger note_emptied;
`;
