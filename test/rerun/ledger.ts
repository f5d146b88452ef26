import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { rows } from '../support/rows.ts';

/** Ids of all existing runs. */
export async function knownRuns(warehouse: Warehouse): Promise<string[]> {
  return (await rows(warehouse, 'select run_id from sync.runs')).map(({ run_id }) => String(run_id));
}

/** The workflow, the target and the outcome, in words, of each run that is not in `known`. */
export async function runsBeyond(warehouse: Warehouse, known: readonly string[]): Promise<string[]> {
  const found = await rows(
    warehouse,
    `select concat_ws(' ', workflow_id, target, status) as run from sync.runs
     where run_id <> all ($1) order by started_at, run_id`,
    [known],
  );
  return found.map(({ run }) => String(run));
}
