import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { workflowInfo } from '@temporalio/workflow';
import type { ScheduledStarted, ScheduledStartInput } from '../activities/start-scheduled.ts';
import { starting } from './proxies.ts';

/**
 * What schedules start, since they name each run of theirs anew: it starts the run that is due under its stable name, and
 * ends. The result says what runs, or why nothing does.
 */
export async function scheduledStart(input: ScheduledStartInput): Promise<ScheduledStarted> {
  const { typedSearchAttributes, startTime } = workflowInfo();
  const at = typedSearchAttributes.get(scheduledTime) ?? startTime;
  return starting.startScheduled({ ...input, at: at.getTime() });
}

/** Set by the server; started by hand, the workflow has none. */
const scheduledTime = defineSearchAttributeKey('TemporalScheduledStartTime', SearchAttributeType.DATETIME);
