import { todayIn } from '../marts/today-in.ts';
import { signals } from '../temporal/messages.ts';
import { startRequest } from '../temporal/start-request.ts';
import { areMartsCurrent } from '../warehouse/marts/are-marts-current.ts';
import type { Dependencies } from './dependencies.ts';
import type { Exported } from './export/export-job.ts';

export interface RequestMartsInput {
  exported: Pick<Exported, 'snapshotId' | 'skipped' | 'takenAt'>;
  reason: string;
}

/**
 * Starts a build of the marts after an export, or tells the running build to build once more, so that two never run at once. If nothing new
 * was exported, it does so only if the marts are outdated, for example yesterday's.
 */
export async function requestMarts(
  { warehouse, temporal, building }: Pick<Dependencies, 'warehouse' | 'temporal' | 'building'>,
  { exported: { skipped, snapshotId, takenAt }, reason }: RequestMartsInput,
): Promise<{ requested: boolean }> {
  const asOfDate = todayIn(building.timeZone, new Date());
  if (skipped && (await areMartsCurrent(warehouse, { asOfDate, snapshotId, takenAt })))
    return { requested: false };
  const afterExport = !skipped;
  const { workflowType, options } = startRequest('marts', { reason, afterExport }, 'schedules');
  await temporal.workflow.signalWithStart(workflowType, {
    ...options,
    signal: signals.requestMarts,
    signalArgs: [{ afterExport }],
  });
  return { requested: true };
}
