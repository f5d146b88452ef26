import { WorkflowExecutionAlreadyStartedError, type Client } from '@temporalio/client';

/** Temporal for the tick of a schedule: runs one sync of a connection at a time. */
export function createTickClient(parts: {
  /** Whether the asking process is dead, in which case nothing is answered. */
  isDead: () => boolean;
  /** The sync that is running. */
  open: () => string | undefined;
  /** Starts a sync and returns its name. */
  start: (input: SyncInput) => string;
}): Client {
  const { isDead, open, start } = parts;
  const workflow = {
    start: (
      workflowType: string,
      options: StartOptions,
    ): Promise<{ workflowId: string; firstExecutionRunId: string }> => {
      const { workflowId, workflowIdConflictPolicy: policy, args } = options;
      if (isDead()) return new Promise(() => undefined);
      // A wanted reconcile is played only when the history has one.
      if (workflowType !== 'syncConnection') return Promise.resolve({ workflowId, firstExecutionRunId: '' });
      const running = open();
      if (running !== undefined && policy !== 'USE_EXISTING')
        return Promise.reject(
          new WorkflowExecutionAlreadyStartedError('It is already running.', workflowId, workflowType),
        );
      return Promise.resolve({ workflowId, firstExecutionRunId: running ?? start(args[0]) });
    },
  };
  return { workflow } as unknown as Client;
}

interface SyncInput {
  readonly resources?: readonly string[];
  readonly adopts?: { readonly runId: string };
}

interface StartOptions {
  readonly workflowId: string;
  readonly workflowIdConflictPolicy?: string;
  readonly args: readonly [SyncInput];
}
