import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { workflowInfo } from '@temporalio/workflow';
import type { ScheduledStarted, ScheduledStartInput } from '../activities/start-scheduled.ts';
import { priorities } from '../temporal/priorities.ts';
import { starting, syncing } from './proxies.ts';
import { requireInput } from './require-input.ts';

/**
 * What schedules start, since they name each run of theirs anew: it starts the run that is due under its stable name, and
 * ends. A sync in which there is little to do it runs itself. The result says what was done or runs, or why nothing does.
 */
export async function scheduledStart(input: ScheduledStartInput): Promise<ScheduledStarted> {
  requireInput(input);
  const { typedSearchAttributes, startTime } = workflowInfo();
  const at = typedSearchAttributes.get(scheduledTime) ?? startTime;
  const fairness = input.kind === 'export' ? {} : { fairnessKey: input.connection };
  // That of the run which it starts, or stands for: see `start-request.ts`.
  const priorityKey = input.kind === 'backfill' ? priorities.backfills : priorities.schedules;
  const { startScheduled } = input.kind === 'sync' ? syncing : starting;
  return startScheduled.executeWithOptions({ priority: { priorityKey, ...fairness } }, [
    { ...input, at: at.getTime() },
  ]);
}

/** Set by the server; started by hand, the workflow has none. */
const scheduledTime = defineSearchAttributeKey('TemporalScheduledStartTime', SearchAttributeType.DATETIME);
