import { queryAsReader } from '../../warehouse/query/query-as-reader.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { print, printTable } from '../printer.ts';
import type { RunningUp } from '../start-up.ts';
import { withoutPassword } from '../without-password.ts';

/** Prints the end of the tour: the counts in Postgres, where to look, and queries to try. */
export async function printSummary(
  warehouse: Warehouse,
  { settings, httpUrl }: RunningUp,
  { hasMarts }: { hasMarts: boolean },
): Promise<void> {
  print('\nIn Postgres now');
  const { columns, rows } = await queryAsReader(warehouse, countsQuery);
  printTable(columns, rows);
  print('\nWhere to look');
  printTable(
    [],
    [
      ['Temporal Web UI', settings.temporal.ui ?? settings.temporal.connection.address],
      ['Daybook console', httpUrl],
      ['Dashboard', `${httpUrl}/dashboard`],
      ['Postgres', withoutPassword(settings.database.url)],
      ['Postgres, with psql', 'npx daybook psql'],
      ['Postgres, with other tools', 'npx daybook url'],
    ],
  );
  print('\nThree queries to try, in another terminal');
  for (const query of hasMarts ? queriesToTry : queriesWithoutMarts) print(`  npx daybook sql "${query}"`);
}

const countsQuery = `
  select connection_id as connection,
    (select count(*) from finance.bills b where b.connection_id = c.connection_id) as bills,
    (select count(*) from finance.bill_lines l where l.connection_id = c.connection_id) as bill_lines,
    (select count(*) from finance.expenses e where e.connection_id = c.connection_id) as expenses,
    (select count(*) from finance.bill_credit_memos m where m.connection_id = c.connection_id) as credit_memos,
    (select count(*) from finance.customers r where r.connection_id = c.connection_id) as customers,
    (select count(*) from finance.items i where i.connection_id = c.connection_id) as items,
    (select count(*) from finance.subscriptions s where s.connection_id = c.connection_id) as subscriptions,
    (select count(*) from finance.deleted_records d where d.connection_id = c.connection_id) as deleted
  from finance.connections c
  order by 1`;

const deletedQuery =
  'select resource, id, source, deleted_at from finance.deleted_records order by deleted_at desc';

/**
 * Here a bill is open as the marts define it: posted, issued, and with more than a rounding difference due today. No credits are subtracted,
 * and a sum that needs an unknown amount is null.
 */
export const queriesToTry: readonly string[] = [
  'select connection_id, currency_code, case when count(*) = count(open_bills) then sum(open_bills) end as open from marts.ap_ageing where is_today group by 1, 2 order by 1, 2',
  "select connection_id, vendor_id, vendor_name, currency_code, open_bills as open from marts.ap_ageing join marts.vendors using (connection_id, vendor_id) where is_today and currency_code = 'USD' order by open desc nulls first limit 10",
  deletedQuery,
];

/** For hosts without the Python environment that builds marts. */
const queriesWithoutMarts: readonly string[] = [
  'select connection_id, currency_code, status, count(*) as bills, case when count(*) = count(amount_due) then sum(amount_due) end as amount_due from finance.bills group by 1, 2, 3 order by 1, 2, 3',
  'select connection_id, vendor_id, count(*) as bills, max(issue_date) as last_bill from finance.bills group by 1, 2 order by bills desc limit 10',
  deletedQuery,
];
