import { sql } from 'kysely';
import { inTransaction } from '../transactions/in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { tokenMarkSql } from '../secrets/sealed-token.ts';

/**
 * Records that a token opens another company, whatever kind of run found out. The token is not used any more, and the schedules pause until another
 * one is set. If the token was replaced meanwhile, nothing pauses. A pause made by a person stays.
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

/** Says why the connection pauses, and what to do. */
export function otherCompany(name: string): string {
  return `The access token of ${name} now opens a different company: set the right token with "daybook connection set-token ${name}"; it then resumes by itself.`;
}
