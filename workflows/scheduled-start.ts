import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import type { ScheduledStarted, ScheduledStartInput } from '../activities/start-scheduled.ts';
import { priorities } from '../temporal/priorities.ts';
import { scheduleKinds } from '../temporal/schedule-ids.ts';
import { starting, syncing } from './proxies.ts';
import { requireInput } from './require-input.ts';

/**
 * What schedules start, since they name each run of theirs anew: it starts the run that is due under its stable name, and
 * ends. A sync in which there is little to do it runs itself. The result says what was done or runs, or why nothing does.
 */
export async function scheduledStart(input: ScheduledStartInput): Promise<ScheduledStarted> {
  requireInput(input);
  requireKind(input);
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

/** What was started by hand may be of any kind; Temporal would try again for ever. */
function requireKind({ kind, connection }: { kind: string; connection?: unknown }): void {
  const isOfConnection = scheduleKinds.some((known) => known === kind) && typeof connection === 'string';
  if (kind !== 'export' && !isOfConnection)
    throw ApplicationFailure.nonRetryable(
      `The input says what to start, such as {"kind":"sync","connection":"acme-us"}: ${scheduleKinds.join(', ')}, or export.`,
      'UnknownConnection',
    );
}

/** Set by the server; started by hand, the workflow has none. */
const scheduledTime = defineSearchAttributeKey('TemporalScheduledStartTime', SearchAttributeType.DATETIME);
