import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openConsole } from '../console/open-console.ts';
import type { Installation } from '../support/installation.ts';
import { rows } from '../support/rows.ts';
import { sync } from '../support/sync.ts';
import { buildMarts } from './build-marts.ts';

/** Names that somebody may have given a vendor. */
export const hostileNames: readonly string[] = [
  '<img src=x onerror="document.title=`owned`"></script><script>document.title="owned"</script>',
  `O'Brien & "Sons", GmbH`,
  `Very${'long'.repeat(60)}name`,
];

/** A day in the middle of the sandbox's data, whatever today is: bills are open, due and paid around it. */
export const asOfDate = '2025-12-16';

/**
 * Two companies with euros, dollars, yen and dinars, their marts, and a console for them. Vendors have hostile names. Moving recorded times
 * makes months of recurring revenue.
 */
export async function openDashboard(
  installation: Installation,
): Promise<{ url: string; companies: string[] }> {
  const { warehouse } = installation;
  await installation.startWorker();
  const companies = [
    // The names determine the content of the books.
    await installation.connect({ name: 'company-11', platform: 'NETSUITE', records: 900 }),
    await installation.connect({ name: 'company-8', platform: 'QUICKBOOKS', records: 900 }),
  ];
  for (const company of companies) await sync(installation, company);
  await warehouse.pool.query(spreadRecordings);
  await nameVendors(installation);
  await buildMarts(installation, { asOfDate });
  return { url: await openConsole(installation), companies };
}

const spreadRecordings = `
  update history.record_versions
  set recorded_at = timestamptz '2025-03-10' + make_interval(months => abs(hashtext(record_id)) % 9)
  where resource = 'subscriptions'`;

/** Names the vendors with the most bills. */
async function nameVendors({ warehouse, env }: Installation): Promise<void> {
  const vendors = await rows(
    warehouse,
    `select distinct on (place) connection_id, vendor_id from (
       select connection_id, vendor_id, row_number() over (partition by connection_id order by sum(total_amount) desc) as place
       from finance.bills where vendor_id is not null and currency_code in ('EUR', 'USD') group by 1, 2
     ) as ranked where place <= $1 order by place, connection_id`,
    [hostileNames.length],
  );
  const lines = vendors.map(({ connection_id, vendor_id }, index) =>
    [connection_id, vendor_id, hostileNames[index]].map(csvField).join(','),
  );
  const seeds = join(env.DAYBOOK_HOME ?? '', 'seeds');
  await mkdir(seeds, { recursive: true });
  await writeFile(
    join(seeds, 'vendor_names.csv'),
    ['connection_id,vendor_id,vendor_name', ...lines, ''].join('\n'),
  );
}

function csvField(value: unknown): string {
  return `"${String(value).replaceAll('"', '""')}"`;
}
