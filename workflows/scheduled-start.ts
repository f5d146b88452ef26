import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import type { ScheduledStarted, ScheduledStartInput } from '../activities/start-scheduled.ts';
import { priorityOf } from '../temporal/priorities.ts';
import { scheduleKinds } from '../temporal/schedule-ids.ts';
import { starting, syncing } from './proxies.ts';
import { requireInput } from './require-input.ts';

/**
 * The workflow that schedules start, because each of their runs gets a new ID: it starts the due run under its stable ID, and ends. It runs a
 * small sync itself. The result says what was done or is running, or why nothing is.
 */
export async function scheduledStart(input: ScheduledStartInput): Promise<ScheduledStarted> {
  requireInput(input);
  requireKind(input);
  const { typedSearchAttributes, startTime } = workflowInfo();
  const at = typedSearchAttributes.get(scheduledTime) ?? startTime;
  const { startScheduled } = input.kind === 'sync' ? syncing : starting;
  // The priority of the run that it starts or replaces.
  const priority = priorityOf(input.kind === 'export' ? { kind: 'export' } : input, 'schedules');
  return startScheduled.executeWithOptions({ priority }, [{ ...input, at: at.getTime() }]);
}

/** A start by hand may have any kind; without this check Temporal would retry forever. */
function requireKind({ kind, connection }: { kind: string; connection?: unknown }): void {
  const isOfConnection = scheduleKinds.some((known) => known === kind) && typeof connection === 'string';
  if (kind !== 'export' && !isOfConnection)
    throw ApplicationFailure.nonRetryable(
      `The input says what to start, such as {"kind":"sync","connection":"acme-us"}: ${scheduleKinds.join(', ')}, or export.`,
      'UnknownConnection',
    );
}

/** Set by the server; absent if started by hand. */
const scheduledTime = defineSearchAttributeKey('TemporalScheduledStartTime', SearchAttributeType.DATETIME);
