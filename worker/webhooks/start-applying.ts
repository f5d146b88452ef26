import type { Client } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { signals } from '../../temporal/messages.ts';
import { searchAttributes } from '../../temporal/search-attributes.ts';
import { startOrJoin } from '../../temporal/start-or-join.ts';
import { startRequest, type StartRequest } from '../../temporal/start-request.ts';
import { missingSearchAttributes } from '../../operations/search-attributes.ts';

/** Starts what applies the webhooks of a connection, or tells the one that runs that there are more. */
export async function signalApplying(temporal: Client, connection: string): Promise<void> {
  const { workflowType, options } = await buildWebhooksRequest(temporal, connection);
  await temporal.workflow.signalWithStart(workflowType, {
    ...options,
    signal: signals.webhooksArrived,
    signalArgs: [],
  });
}

/** Starts it unless it runs; one that runs is left alone, for it may wait. */
export async function startApplying(temporal: Client, connection: string): Promise<void> {
  await startOrJoin(temporal, await buildWebhooksRequest(temporal, connection));
}

async function buildWebhooksRequest(temporal: Client, connection: string): Promise<StartRequest> {
  // Short, and somebody may be looking at the very record.
  const request = startRequest('webhooks', { connection }, 'people');
  if (!(await isSearchable(temporal))) return request;
  const typedSearchAttributes = new TypedSearchAttributes([
    { key: searchAttributes.connection, value: connection },
    { key: searchAttributes.kind, value: 'webhook' },
  ]);
  return { ...request, options: { ...request.options, typedSearchAttributes } };
}

/** Asked once for each client: a start with attributes that Temporal does not know is refused. */
async function isSearchable(temporal: Client): Promise<boolean> {
  const known = searchable.get(temporal);
  if (known !== undefined) return known;
  const missing = await missingSearchAttributes(temporal, temporal.options.namespace);
  searchable.set(temporal, missing.length === 0);
  return missing.length === 0;
}

const searchable = new WeakMap<Client, boolean>();
