import type { Client } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { searchAttributes } from '../temporal/search-attributes.ts';
import { mainQueue } from '../temporal/task-queues.ts';
import { isWorkflowId } from '../temporal/workflow-ids.ts';
import type { StuckWorkflow } from '../warehouse/alerts/judge-alerts.ts';
import { plainName } from '../warehouse/plain-name.ts';

/**
 * Workflows of Daybook's whose workflow task has failed several times in a row (five, on a server that is set as it comes). It
 * takes Temporal about a minute to say so. One short list, however many workflows run; those of others on the same queue are left out.
 * Throws what the client throws: also where the server has no such search attribute.
 */
export async function readStuckWorkflows(temporal: Client): Promise<StuckWorkflow[]> {
  const stuck: StuckWorkflow[] = [];
  const query = `TemporalReportedProblems is not null and ExecutionStatus = 'Running' and TaskQueue = '${mainQueue}'`;
  await temporal.withDeadline(Date.now() + 3_000, async () => {
    for await (const workflow of temporal.workflow.list({ query, pageSize: mostRead })) {
      // What somebody else calls a workflow is nobody's to repeat.
      if (!isWorkflowId(workflow.workflowId)) continue;
      const connection = workflow.typedSearchAttributes.get(searchAttributes.connection);
      const problems = workflow.typedSearchAttributes.get(reportedProblems) ?? [];
      stuck.push({
        workflowId: workflow.workflowId,
        connection: connection !== undefined && plainName.test(connection) ? connection : undefined,
        cause: problems.map((one) => causePattern.exec(one)?.[1]).find((cause) => cause !== undefined),
      });
      if (stuck.length === mostRead) break;
    }
  });
  return stuck;
}

const reportedProblems = defineSearchAttributeKey(
  'TemporalReportedProblems',
  SearchAttributeType.KEYWORD_LIST,
);
/** As Temporal calls causes; whoever writes in the namespace may have put anything there. */
const causePattern = /^cause=(WorkflowTaskFailedCause\w{1,80})$/;
/** One is enough to say what to do. */
const mostRead = 200;
