import { ScheduleAlreadyRunning, ScheduleOverlapPolicy, type Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { scheduleIds } from '../../temporal/schedule-ids.ts';
import { scheduledWorkflowTypes } from '../../temporal/start-request.ts';
import { mainQueue } from '../../temporal/task-queues.ts';
import { workflowIds } from '../../temporal/workflow-ids.ts';
import { loggingFailure } from '../../operations/logging-failure.ts';

/**
 * Creates the daily schedule `prune`. An existing one stays as people have set it, paused or at another hour. Failures are logged: a
 * worker works without it.
 */
export async function schedulePrune(temporal: Client, { logger }: { logger: Logger }): Promise<void> {
  const failing = 'The schedule "prune" could not be made: the next worker that starts tries again.';
  await loggingFailure(logger, failing, async () => {
    try {
      await temporal.schedule.create({
        scheduleId: scheduleIds.prune,
        spec: { intervals: [{ every: '1d' }], jitter: '1h' },
        policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1d' },
        action: {
          type: 'startWorkflow',
          workflowType: scheduledWorkflowTypes.prune,
          workflowId: workflowIds.prune,
          taskQueue: mainQueue,
          args: [{}],
          staticSummary: 'Remove what DAYBOOK_KEEP_… no longer keeps',
        },
      });
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    }
  });
}
