import { WorkflowExecutionAlreadyStartedError, type Client } from '@temporalio/client';
import type { exportSnapshot } from '../workflows/index.ts';
import { priorities } from './priorities.ts';
import type { Settings } from './settings.ts';
import { mainQueue } from './task-queues.ts';
import { workflowLink } from './workflow-link.ts';

export type { Exported, ExportProgress } from '../activities/export/export-job.ts';

const exportWorkflowId = 'export';

export interface StartedExport {
  workflowId: string;
  temporalRunId: string;
  /** One ran already; this is that one. */
  joined: boolean;
  /** The run in the Web UI, where its address is known. */
  link: string;
}

/** Starts the export that a person asked for, or finds the one that runs: Temporal lets one run at a time. */
export async function startExport(
  { client, settings }: { client: Client; settings: Settings },
  { reason, force = false }: { reason: string; force?: boolean },
): Promise<StartedExport> {
  const found = (temporalRunId: string, joined: boolean): StartedExport => {
    const run = { workflowId: exportWorkflowId, temporalRunId };
    return { ...run, joined, link: workflowLink(settings.temporal, run) ?? exportWorkflowId };
  };
  try {
    const handle = await client.workflow.start<typeof exportSnapshot>('exportSnapshot', {
      workflowId: exportWorkflowId,
      taskQueue: mainQueue,
      args: [{ reason, ...(force && { force }) }],
      staticSummary: 'Export of a snapshot',
      priority: { priorityKey: priorities.people },
    });
    return found(handle.firstExecutionRunId, false);
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    const { runId } = await client.workflow.getHandle(exportWorkflowId).describe();
    return found(runId, true);
  }
}
