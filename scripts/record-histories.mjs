import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parseArgs } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';

/**
 * node scripts/record-histories.mjs --address HOST:PORT --home DIR --out test/released/vX/histories: saves the histories of
 * all workflows, one of each kind in each state, without data about this machine. `daybook status --json` shows the address.
 */
const { values: options } = parseArgs({
  options: {
    address: { type: 'string' },
    namespace: { type: 'string', default: 'default' },
    home: { type: 'string' },
    out: { type: 'string' },
  },
});
if (!options.address || !options.home || !options.out) {
  console.error('Say --address, --home and --out.');
  process.exit(2);
}

const kinds = {
  syncConnection: 'sync',
  reconcileConnection: 'reconcile',
  backfillConnection: 'backfill',
  applyWebhooks: 'webhooks',
  awaitApproval: 'approval',
  exportSnapshot: 'export',
  buildMarts: 'marts',
  pruneWarehouse: 'prune',
  scheduledStart: 'scheduled',
  namespaceOwner: 'owner',
};

const connection = await Connection.connect({ address: options.address });
const client = new Client({ connection, namespace: options.namespace });
mkdirSync(options.out, { recursive: true });
const saved = new Set();
for await (const { workflowId, runId, type } of client.workflow.list()) {
  const history = JSON.parse(
    historyToJSON(await client.workflow.getHandle(workflowId, runId).fetchHistory()),
  );
  const name = [kindOf(type, history.events), stateOf(history.events)].join('-');
  if (saved.has(name)) continue;
  saved.add(name);
  writeFileSync(join(options.out, `${name}.json.gz`), gzipSync(JSON.stringify(withoutMachine(history))));
}
await connection.close();
console.log([...saved].sort().join('\n'));

/** Returns the kind of a workflow; for one that a schedule starts, also the kind of run that is due. */
function kindOf(type, events) {
  const kind = kinds[type] ?? type;
  return type === 'scheduledStart' ? `${kind}-${inputOf(events).kind}` : kind;
}

/** Returns the state in the terms of test/released: how the workflow ended or what it waits for, and which signals and updates arrived. */
function stateOf(events) {
  const first = events[0].workflowExecutionStartedEventAttributes;
  const firstTask = events.findIndex(({ workflowTaskStartedEventAttributes: task }) => task);
  const told = events.slice(firstTask).some(({ workflowExecutionSignaledEventAttributes: signal }) => signal);
  const answered = events.some(({ workflowExecutionUpdateCompletedEventAttributes: update }) => update);
  const wasContinued = first.continuedExecutionRunId && !events.some(isReset);
  return [
    ...(wasContinued ? ['continuation'] : []),
    ...(inputOf(events)?.adopts ? ['adopted'] : []),
    ...(events.some(isReset) ? ['reset'] : []),
    ...(told ? ['told'] : []),
    ...(answered ? ['answered'] : []),
    endOf(events),
  ].join('-');
}

function inputOf([{ workflowExecutionStartedEventAttributes: first }]) {
  return valueIn(first.input);
}

function isReset({ workflowTaskFailedEventAttributes: failed }) {
  return failed?.cause === 'WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW';
}

function endOf(events) {
  const last = events.at(-1);
  const [, end] = /^EVENT_TYPE_WORKFLOW_EXECUTION_(.+)$/.exec(last.eventType) ?? [];
  if (end === 'COMPLETED') return finished(last.workflowExecutionCompletedEventAttributes);
  if (end === 'FAILED') {
    const { type } = last.workflowExecutionFailedEventAttributes.failure.applicationFailureInfo ?? {};
    return `failed-${(type ?? 'otherwise').replace(/(?<=.)[A-Z]/g, (letter) => `-${letter}`).toLowerCase()}`;
  }
  const ends = { CANCELED: 'cancelled', TERMINATED: 'terminated', CONTINUED_AS_NEW: 'continued' };
  return ends[end] ?? (waits(events) ? 'waiting' : 'open');
}

/** Returns a result's state: partial or skipped; for a tick also whether it was the sync itself, or handed it to another workflow. */
function finished({ result }) {
  const value = valueIn(result);
  if (value?.quiet) return value.status === 'succeeded' ? 'quiet' : `quiet-${value.status}`;
  if (value?.why) return 'handed-over';
  if (value?.status === 'partial') return 'partial';
  return value?.skipped ? 'skipped' : 'finished';
}

function valueIn(payloads) {
  return JSON.parse(text(payloads?.payloads?.[0]?.data ?? '') || 'null');
}

function waits(events) {
  const over = new Set(
    events.map((event) => (event.timerFiredEventAttributes ?? event.timerCanceledEventAttributes)?.timerId),
  );
  return events.some(({ timerStartedEventAttributes: timer }) => timer && !over.has(timer.timerId));
}

/** Removes stacks and names of processes and hosts, and replaces the home. */
function withoutMachine(value, key = '') {
  if (key === 'stackTrace') return undefined;
  if (key === 'identity') return 'recorded';
  if (key === 'data') return data(text(value).replaceAll(options.home, '/var/lib/daybook'));
  if (typeof value === 'string') return value.replaceAll(options.home, '/var/lib/daybook');
  if (Array.isArray(value)) return value.map((element) => withoutMachine(element));
  if (value === null || typeof value !== 'object') return value;
  if (value.kind === 'TASK_QUEUE_KIND_STICKY') return { ...value, name: 'recorded' };
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, withoutMachine(inner, name)]),
  );
}

function text(base64) {
  return Buffer.from(base64, 'base64').toString('utf8');
}

function data(readable) {
  return Buffer.from(readable, 'utf8').toString('base64');
}
