import { sql } from 'kysely';
import { budgetKey } from './api-budget.ts';
import type { Warehouse } from '../open-warehouse.ts';

/** Reads until when the service wants no requests from any connection; null if it has not asked for that, or the time is over. */
export async function readApiSilence(
  { db }: Pick<Warehouse, 'db'>,
  { address, clientId }: { address: string; clientId: string },
): Promise<Date | null> {
  const { rows } = await sql<{ until: Date }>`
    select blocked_until as until from sync.api_budgets
    where budget = ${budgetKey({ apiAddress: address, clientId })}
      and blocked_until > clock_timestamp() and blocked_until <= clock_timestamp() + interval '1 hour'
  `.execute(db);
  return rows[0]?.until ?? null;
}
