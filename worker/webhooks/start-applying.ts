import type { Client } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { signals } from '../../temporal/messages.ts';
import { searchAttributes } from '../../temporal/search-attributes.ts';
import { startOrJoin } from '../../temporal/start-or-join.ts';
import { startRequest, type StartRequest } from '../../temporal/start-request.ts';
import { missingSearchAttributes } from '../../operations/search-attributes.ts';

/** Starts the workflow that applies a connection's webhooks, or signals the running one that there are more. */
export async function signalApplying(temporal: Client, connection: string): Promise<void> {
  const { workflowType, options } = await buildWebhooksRequest(temporal, connection);
  await temporal.workflow.signalWithStart(workflowType, {
    ...options,
    signal: signals.webhooksArrived,
    signalArgs: [],
  });
}

/** Starts the workflow if it is not running. A running one is not signaled, because it may be waiting. */
export async function startApplying(temporal: Client, connection: string): Promise<void> {
  await startOrJoin(temporal, await buildWebhooksRequest(temporal, connection));
}

async function buildWebhooksRequest(temporal: Client, connection: string): Promise<StartRequest> {
  // It is short, and somebody may be looking at that very record, so it gets the priority of people.
  const request = startRequest('webhooks', { connection }, 'people');
  if (!(await isSearchable(temporal))) return request;
  const typedSearchAttributes = new TypedSearchAttributes([
    { key: searchAttributes.connection, value: connection },
    { key: searchAttributes.kind, value: 'webhook' },
  ]);
  return { ...request, options: { ...request.options, typedSearchAttributes } };
}

/** Checks once for each client: Temporal refuses a start with search attributes that it does not know. */
async function isSearchable(temporal: Client): Promise<boolean> {
  const known = searchable.get(temporal);
  if (known !== undefined) return known;
  const missing = await missingSearchAttributes(temporal, temporal.options.namespace);
  searchable.set(temporal, missing.length === 0);
  return missing.length === 0;
}

const searchable = new WeakMap<Client, boolean>();
