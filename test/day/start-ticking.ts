import { WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import { runDaybook } from '../support/daybook-process.ts';
import { connections, type DayEnvironment } from './open-day-environment.ts';

/** Gives every connection a schedule. `stop` removes it, and waits for the syncs that still run. */
export async function startTicking(
  environment: Pick<DayEnvironment, 'client' | 'env' | 'folder'>,
  { tickSeconds }: { tickSeconds: number },
): Promise<{ stop: () => Promise<void> }> {
  await connectionCommand(environment, 'set', ['--every', `${tickSeconds}s`]);
  return {
    stop: async () => {
      await connectionCommand(environment, 'set', ['--every', 'off']);
      for (const connection of connections) {
        const { client } = environment;
        const ticks = `WorkflowType = 'scheduledStart' and WorkflowId starts_with 'scheduled/sync/${connection}-'`;
        const running = client.workflow.list({ query: `${ticks} and ExecutionStatus = 'Running'` });
        for await (const { workflowId } of running) await client.workflow.getHandle(workflowId).result();
        await client.workflow
          .getHandle(`sync/${connection}`)
          .result()
          .catch((error: unknown) => {
            // No such workflow exists if each tick did all the work itself.
            if (!(error instanceof WorkflowFailedError || error instanceof WorkflowNotFoundError))
              throw error;
          });
      }
    },
  };
}

/** Runs a command of `daybook connection` for every connection. */
async function connectionCommand(
  { env, folder }: Pick<DayEnvironment, 'env' | 'folder'>,
  command: string,
  options: readonly string[],
): Promise<void> {
  for (const connection of connections) {
    const args = ['connection', command, connection, ...options];
    const { code, stderr } = await runDaybook(args, { env, cwd: folder });
    if (code !== 0) throw new Error(`daybook ${args.join(' ')} failed: ${stderr}`);
  }
}
