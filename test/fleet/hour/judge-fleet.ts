import { compareWithSource } from '../../support/compare-with-source.ts';
import type { Fleet, FleetOptions } from './open-fleet.ts';

/** Holds the product to its promises after an hour. */
export async function judgeFleet(
  fleet: Fleet,
  { connections }: FleetOptions,
  report: (progress: string) => void,
): Promise<{ records: number; values: number; complaints: string[] }> {
  const { admin, databaseUrl, names, warehouse } = fleet;
  const complaints: string[] = [];
  let records = 0;
  let values = 0;
  for (const [n, connectionId] of names.entries()) {
    const compared = await compareWithSource({ databaseUrl, admin, connectionId });
    records += compared.records;
    values += compared.values;
    complaints.push(...compared.differences.map((difference) => `${connectionId}: ${difference}.`));
    if (n % 1_000 === 999) report(`${n + 1} of ${connections} compared, ${complaints.length} complaints`);
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
