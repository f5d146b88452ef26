import { expect } from 'vitest';
import { rows } from '../support/rows.ts';
import { withinFiveMinutes } from '../support/eventually.ts';
import type { World } from './world.ts';

/**
 * Expects that the tables match the source, and that the ledger has no run that is still running or reported better than it was. Only the
 * run of a command that does its work itself, without a workflow to continue it, may be `interrupted`.
 */
export async function expectExact(
  { commitKiller, warehouse, compare }: World,
  connection: string,
  { tables, statuses = ['succeeded'] }: { tables?: readonly string[]; statuses?: readonly string[] } = {},
): Promise<void> {
  await commitKiller.recovered();
  await withinFiveMinutes(async () => {
    const { differences } = await compare(connection, tables === undefined ? {} : { tables });
    expect(differences).toEqual([]);
    const others = await rows(
      warehouse,
      `select kind, status from sync.runs
       where connection_id = $1 and status <> all($2) and not (status = 'interrupted' and workflow_id = '')`,
      [connection, statuses],
    );
    expect(others).toEqual([]);
    return 'exact';
  });
}
