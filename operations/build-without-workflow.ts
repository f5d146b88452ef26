import { randomUUID } from 'node:crypto';
import type { Settings } from '../config/settings.ts';
import { buildTarget } from '../marts/build-target.ts';
import type { BuildFollower, MartsBuilt } from '../marts/build-settings.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import type { MartsTarget } from '../warehouse/tables/marts.ts';
import { martsPlaces } from './marts-places.ts';

/** Builds the marts of a target as a run without a workflow. Throws the errors of `marts/build-target.ts`. */
export async function buildWithoutWorkflow(
  { settings, warehouse }: { readonly settings: Settings; readonly warehouse: Warehouse },
  {
    target,
    reason,
    connections,
    leavesIceberg = false,
    mayBeEmpty = false,
  }: {
    readonly target: MartsTarget;
    readonly reason: string;
    /** The maximum number of dbt's Postgres sessions. */
    readonly connections: number;
    /** Whether the caller makes Iceberg tables show them. */
    readonly leavesIceberg?: boolean;
    /** Whether they are built even if no connection enters them. */
    readonly mayBeEmpty?: boolean;
  },
  follower: Pick<BuildFollower, 'onStep' | 'timeoutMilliseconds'>,
): Promise<MartsBuilt> {
  const runId = randomUUID();
  const run = { runId, target, workflowId: '', temporalRunId: runId, reason };
  const all = { ...martsPlaces(settings, { connections }), mayBeEmpty };
  const places = leavesIceberg ? { ...all, iceberg: undefined } : all;
  return buildTarget({ warehouse, places }, run, { ...follower, onLine: follower.onStep });
}
