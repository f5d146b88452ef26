import { randomUUID } from 'node:crypto';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { overSessions } from './over-sessions.ts';

/**
 * The warehouse over a Postgres that tells of the next commit in which `statement` was made (its name, or a part of its text), and has lost it:
 * a standby took over.
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

/** The same, and the server says so: it is on another timeline from then on. */
export function promotingStandby(
  warehouse: Warehouse,
  statement: string,
): Warehouse & { readonly isLost: () => boolean } {
  return losingCommit(warehouse, statement, () => beginTimeline(warehouse));
}

/** What a standby does that is promoted. */
export async function beginTimeline({ pool }: Pick<Warehouse, 'pool'>): Promise<void> {
  const timeline = randomUUID();
  await pool.query(
    `create or replace function sync.timeline() returns text language sql stable as $$ select '${timeline}' $$`,
  );
}
