import { Connection, isGrpcServiceError } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';

/**
 * Sets the namespace's retention of closed workflows to 30 days; the development server would forget a failed sync after one.
 * Returns undefined while the server or the namespace is not there yet, and also if another server answers, which is one without
 * the namespace `mark`.
 */
export async function prepareNamespace(
  address: string,
  { namespace, mark }: { namespace: string; mark: string },
): Promise<'ready' | undefined> {
  const connection = Connection.lazy({ address });
  try {
    return await connection.withDeadline(Date.now() + 5000, async (): Promise<'ready'> => {
      await connection.workflowService.describeNamespace({ namespace: mark });
      const { config } = await connection.workflowService.describeNamespace({ namespace });
      const kept = config?.workflowExecutionRetentionTtl?.seconds?.toNumber() ?? 0;
      if (kept !== keepDays * 86_400) {
        const workflowExecutionRetentionTtl = msToTs(`${keepDays} days`);
        await connection.workflowService.updateNamespace({
          namespace,
          config: { workflowExecutionRetentionTtl },
        });
      }
      return 'ready';
    });
  } catch (error) {
    if (isGrpcServiceError(error)) return undefined;
    throw error;
  } finally {
    await connection.close();
  }
}

const keepDays = 30;
