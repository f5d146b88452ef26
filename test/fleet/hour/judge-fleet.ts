import { compareWithSource } from '../../support/compare-with-source.ts';
import { largeCompany } from './fleet-faults.ts';
import type { Fleet, FleetOptions } from './open-fleet.ts';

/** Judges the product's promises after an hour. */
export async function judgeFleet(
  fleet: Fleet,
  { misfortunes }: FleetOptions,
  report: (progress: string) => void,
): Promise<{ records: number; values: number; complaints: string[] }> {
  const { admin, databaseUrl, names, warehouse } = fleet;
  const complaints: string[] = [];
  let records = 0;
  let values = 0;
  const compared = misfortunes ? [...names, largeCompany] : names;
  for (const [n, connectionId] of compared.entries()) {
    const found = await compareWithSource({ databaseUrl, admin, connectionId });
    records += found.records;
    values += found.values;
    complaints.push(...found.differences.map((difference) => `${connectionId}: ${difference}.`));
    if (n % 1_000 === 999) report(`${n + 1} of ${compared.length} compared, ${complaints.length} complaints`);
  }
  const { rows } = await warehouse.pool.query<{ complaint: string }>(
    `select format('The %s %s of %s is running for ever.', kind, run_id, connection_id) as complaint
     from sync.runs where status = 'running' and started_at < now() - interval '10 minutes'
     union all
     select format('A webhook of %s waits for ever.', connection_id) from sync.webhook_inbox where status = 'waiting'
     limit 20`,
  );
  complaints.push(...rows.map(({ complaint }) => complaint));
  return { records, values, complaints };
}
