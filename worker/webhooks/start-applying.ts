import type { Client, WorkflowStartOptions } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType, TypedSearchAttributes } from '@temporalio/common';
import { priorities } from '../../activities/priorities.ts';
import { missingSearchAttributes } from '../search-attributes.ts';
import { mainQueue } from '../task-queues.ts';

/** Starts what applies the webhooks of a connection, or tells the one that runs that there are more. */
export async function nudgeApplying(temporal: Client, connection: string): Promise<void> {
  await temporal.workflow.signalWithStart('applyWebhooks', {
    ...(await optionsOf(temporal, connection)),
    signal: 'webhooksArrived',
    signalArgs: [],
  });
}

/** Starts it unless it runs; one that runs is left alone, for it may wait. */
export async function startApplying(temporal: Client, connection: string): Promise<void> {
  await temporal.workflow.start('applyWebhooks', {
    ...(await optionsOf(temporal, connection)),
    workflowIdConflictPolicy: 'USE_EXISTING',
  });
}

async function optionsOf(
  temporal: Client,
  connection: string,
): Promise<WorkflowStartOptions & { args: unknown[] }> {
  return {
    workflowId: `webhooks/${connection}`,
    taskQueue: mainQueue,
    args: [{ connection }],
    staticSummary: `Webhooks of ${connection}`,
    // Short, and somebody may be looking at the very record.
    priority: { priorityKey: priorities.people, fairnessKey: connection },
    ...((await isSearchable(temporal))
      ? {
          typedSearchAttributes: new TypedSearchAttributes([
            { key: connectionKey, value: connection },
            { key: kindKey, value: 'webhook' },
          ]),
        }
      : {}),
  };
}

const connectionKey = defineSearchAttributeKey('DaybookConnection', SearchAttributeType.KEYWORD);
const kindKey = defineSearchAttributeKey('DaybookKind', SearchAttributeType.KEYWORD);

/** Asked once for each client: a start with attributes that Temporal does not know is refused. */
async function isSearchable(temporal: Client): Promise<boolean> {
  const known = searchable.get(temporal);
  if (known !== undefined) return known;
  const missing = await missingSearchAttributes(temporal, temporal.options.namespace);
  searchable.set(temporal, missing.length === 0);
  return missing.length === 0;
}

const searchable = new WeakMap<Client, boolean>();
