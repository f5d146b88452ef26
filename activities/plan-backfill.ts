import { resourcesNamed } from '../resources/index.ts';
import { readAccess } from '../warehouse/connections/read-access.ts';
import { backfillPlan } from '../warehouse/passes/backfill-plan.ts';
import { planBackfill as planInWarehouse } from '../warehouse/passes/plan-backfill.ts';
import { beginRun } from '../warehouse/runs/begin-run.ts';
import type { Dependencies } from './dependencies.ts';
import { runOfActivity } from './run-of-activity.ts';

export interface PlanBackfillInput {
  runId: string;
  connection: string;
  reason: string;
  from: string;
  to: string;
  windowMilliseconds?: number;
  /** Empty: all. */
  resources: readonly string[];
}

/** The windows, however many, stay in the warehouse: a history holds only the plan's name. */
export interface PlannedBackfill {
  plan: string;
  streams: readonly string[];
  searchable: boolean;
}

/** Opens the run's row, and a pass for each window to be read. Throws InvalidBackfill, UnknownResource. */
export async function planBackfill(
  dependencies: Dependencies,
  input: PlanBackfillInput,
): Promise<PlannedBackfill> {
  const { warehouse, apiAddress, secretKey, searchable } = dependencies;
  const { runId, connection: connectionId } = input;
  const resources = resourcesNamed(input.resources).map(({ name }) => name);
  const plan = backfillPlan({ ...input, resources });
  await beginRun(warehouse, runOfActivity({ ...input, kind: 'backfill' }));
  await readAccess(warehouse, secretKey, { connectionId, apiAddress });
  await planInWarehouse(warehouse, { connectionId, runId, plan });
  return { plan: plan.name, streams: plan.streams, searchable };
}
