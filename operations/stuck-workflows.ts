import type { Client } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { searchAttributes } from '../temporal/search-attributes.ts';
import { mainQueue } from '../temporal/task-queues.ts';
import { isWorkflowId } from '../temporal/workflow-ids.ts';
import type { StuckWorkflow } from '../warehouse/alerts/judge-alerts.ts';
import { plainName } from '../warehouse/plain-name.ts';

/**
 * Returns Daybook's workflows whose workflow task has failed several times in a row (five, by the server's default). Temporal takes about a
 * minute to report it. One short list, however many workflows run; other workflows on the same queue are left out. Throws the errors of the
 * client, also if the server lacks this search attribute.
 */
export async function readStuckWorkflows(temporal: Client): Promise<StuckWorkflow[]> {
  const stuck: StuckWorkflow[] = [];
  const query = `TemporalReportedProblems is not null and ExecutionStatus = 'Running' and TaskQueue = '${mainQueue}'`;
  await temporal.withDeadline(Date.now() + 3_000, async () => {
    for await (const workflow of temporal.workflow.list({ query, pageSize: mostRead })) {
      // A foreign workflow's name must not be repeated.
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
/** Temporal's names of causes; anyone with write access to the namespace may have put anything there. */
const causePattern = /^cause=(WorkflowTaskFailedCause\w{1,80})$/;
/** One would be enough to say what to do. */
const mostRead = 200;
