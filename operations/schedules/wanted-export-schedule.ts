import { scheduledWorkflowId, scheduleIds } from '../../temporal/schedule-ids.ts';
import type { WantedSchedule } from './wanted-schedules.ts';

/** `every` in milliseconds; null: no schedule. */
export function wantedExportSchedule(every: number | null): WantedSchedule | undefined {
  if (every === null) return undefined;
  return {
    every,
    offset: 0,
    jitter: Math.floor(Math.min(every / 10, 60_000)),
    catchupWindow: Math.max(every, 10_000),
    summary: 'Export of a snapshot, scheduled',
    workflowId: scheduledWorkflowId(scheduleIds.export),
    input: { kind: 'export' },
    pausedWhy: null,
    slowedWhy: '',
  };
}
