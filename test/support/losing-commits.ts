import { randomUUID } from 'node:crypto';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { overSessions } from './over-sessions.ts';

/**
 * The warehouse over a Postgres that confirms, and then loses, the next commit of a transaction that ran `statement` (its name, or a part
 * of its text), as when a standby takes over.
 */
export function losingCommit(
  warehouse: Warehouse,
  statement: string,
  onLost: () => Promise<void> = () => Promise.resolve(),
): Warehouse & { readonly isLost: () => boolean } {
  let isLost = false;
  const losing = overSessions(warehouse, (client) => {
    let isMet = false;
    return {
      async query(...given: [Statement]) {
        isMet ||= named(given[0]).includes(statement);
        if (given[0] !== 'commit' || !isMet || isLost) return client.query(...(given as [string]));
        isLost = true;
        const ended = await client.query('rollback');
        await onLost();
        return ended;
      },
    };
  });
  return { ...losing, isLost: () => isLost };
}

type Statement = string | { readonly name?: string; readonly text?: string };

function named(statement: Statement): string {
  return typeof statement === 'string' ? statement : `${statement.name ?? ''} ${statement.text ?? ''}`;
}

/** Like `losingCommit`, but the server shows it: it is on another timeline from then on. */
export function promotingStandby(
  warehouse: Warehouse,
  statement: string,
): Warehouse & { readonly isLost: () => boolean } {
  return losingCommit(warehouse, statement, () => beginTimeline(warehouse));
}

/** Puts the server on a new timeline, as the promotion of a standby does. */
export async function beginTimeline({ pool }: Pick<Warehouse, 'pool'>): Promise<void> {
  const timeline = randomUUID();
  await pool.query(
    `create or replace function sync.timeline() returns text language sql stable as $$ select '${timeline}' $$`,
  );
}
