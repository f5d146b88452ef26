import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { overSessions } from './over-sessions.ts';

/**
 * The warehouse over a Postgres that tells of the next commit in which `statement` was made (its name, or a part of its text), and has lost it:
 * a standby took over.
 */
export function losingCommit(
  warehouse: Warehouse,
  statement: string,
): Warehouse & { readonly isLost: () => boolean } {
  let isLost = false;
  const losing = overSessions(warehouse, (client) => {
    let isMet = false;
    return {
      query(...given: [Statement]) {
        isMet ||= named(given[0]).includes(statement);
        if (given[0] !== 'commit' || !isMet || isLost) return client.query(...(given as [string]));
        isLost = true;
        return client.query('rollback');
      },
    };
  });
  return { ...losing, isLost: () => isLost };
}

type Statement = string | { readonly name?: string; readonly text?: string };

function named(statement: Statement): string {
  return typeof statement === 'string' ? statement : `${statement.name ?? ''} ${statement.text ?? ''}`;
}
