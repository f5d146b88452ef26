import { sql } from 'kysely';
import { inTransaction } from '../transactions/in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { tokenMarkSql } from '../secrets/sealed-token.ts';

/**
 * Notes that a token opens another company, whatever kind of run has met it: it is no longer used, and the schedules
 * pause until another one is set. A token that was replaced meanwhile pauses nothing, and a pause that a person made stays.
 */
export async function refuseToken(
  { pool }: Pick<Warehouse, 'pool'>,
  { connectionId, token }: { connectionId: string; token: string },
): Promise<void> {
  const isCurrent = sql<boolean>`${sql.raw(tokenMarkSql)} = ${token}`;
  await inTransaction(pool, async ({ db }) => {
    await db
      .updateTable('sync.connections')
      .set({ refused_token: token })
      .where('connection_id', '=', connectionId)
      .where(isCurrent)
      .execute();
    await db
      .updateTable('sync.connections')
      .set({
        paused_at: sql<Date>`clock_timestamp()`,
        paused_why: otherCompany(connectionId),
        paused_by: 'daybook',
        pause_reached_schedules: false,
      })
      .where('connection_id', '=', connectionId)
      .where('paused_at', 'is', null)
      .where(isCurrent)
      .execute();
  });
}

/** Why it pauses, and what to do. */
export function otherCompany(name: string): string {
  return `The access token of ${name} now opens a different company: set the right token with "daybook connection set-token ${name}"; it then resumes by itself.`;
}
