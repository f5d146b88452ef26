import { describe, expect, test } from 'vitest';
import { searchAttributeNames } from '../../temporal/search-attributes.ts';
import {
  startRequest,
  workflowTypes,
  type StartInputs,
  type StartKind,
} from '../../temporal/start-request.ts';
import * as queues from '../../temporal/task-queues.ts';
import { isWorkflowId } from '../../temporal/workflow-ids.ts';
import {
  applyWebhooks,
  backfillConnection,
  buildMarts,
  exportSnapshot,
  reconcileConnection,
  syncConnection,
} from '../../workflows/index.ts';
import { releasedHistories } from '../support/released-histories.ts';

// A release must find what an earlier one has named: Temporal knows runs, schedules and queues only by these names.

const histories = releasedHistories().map(({ version, name, history }) => ({
  file: `${version}/${name}`,
  events: (history as { events: HistoryEvent[] }).events,
}));

const begun = histories.flatMap(({ file, events }) => {
  const [first] = events;
  const attributes = first?.workflowExecutionStartedEventAttributes;
  const kind = kinds().find((one) => workflowTypes[one] === attributes?.workflowType.name);
  if (attributes === undefined || kind === undefined) return [];
  const [payload] = attributes.input?.payloads ?? [];
  const { options } = startRequest(kind, decoded(payload) as never, 'people');
  // Some were started by hand without a summary, as from the Web UI, under any id.
  const isOurs = decoded(first?.userMetadata?.summary) === options.staticSummary;
  return [{ file, kind, attributes, options, isOurs }];
});

/** The types tie each workflow to the input that its starters give. */
const workflows = {
  sync: syncConnection,
  reconcile: reconcileConnection,
  backfill: backfillConnection,
  webhooks: applyWebhooks,
  export: exportSnapshot,
  marts: buildMarts,
} satisfies { [Kind in StartKind]: (input: StartInputs[Kind]) => Promise<unknown> };

test.each(kinds())('a request for %s names the workflow that takes its input', (kind) => {
  expect(workflows[kind].name).toBe(workflowTypes[kind]);
});

describe('the workflows that releases have started', () => {
  test('are of every kind', () => {
    expect(new Set(begun.filter(({ isOurs }) => isOurs).map(({ kind }) => kind))).toEqual(new Set(kinds()));
  });

  test.each(begun.map((one) => [one.file, one] as const))(
    '%s has the names that this release gives',
    (_, history) => {
      const { attributes, options, isOurs } = history;
      if (isOurs) {
        expect(attributes.workflowId).toBe(options.workflowId);
        expect(isWorkflowId(attributes.workflowId)).toBe(true);
      }
      expect(attributes.taskQueue.name).toBe(options.taskQueue);
      if (attributes.priority?.fairnessKey !== undefined)
        expect(attributes.priority.fairnessKey).toBe(options.priority.fairnessKey);
      const said = Object.keys(attributes.searchAttributes?.indexedFields ?? {}).filter((name) =>
        name.startsWith('Daybook'),
      );
      expect(searchAttributeNames).toEqual(expect.arrayContaining(said));
    },
  );
});

test.each([
  ['scheduled/sync/acme-us-2026-11-27T20:15:00Z', true],
  ['scheduled/export-2026-11-27T20:15:00Z', true],
  ['backfill/acme-us/2024-01-01_2024-02-01T12:00:00.000Z', true],
  ['sync/acme-us\0', false],
  ['sync/<!channel>', false],
  ['<https://example.com|sign in again>', false],
  ['sync/acme-us\nexport', false],
  ['noSuchWorkflow', false],
])('the workflow ID %j may be one of Daybook: %s', (id, isOurs) => {
  expect(isWorkflowId(id)).toBe(isOurs);
});

test('the queues of all activities that releases have scheduled are the queues of this release', () => {
  const used = histories.flatMap(({ events }) =>
    events.flatMap((event) => event.activityTaskScheduledEventAttributes?.taskQueue.name ?? []),
  );
  expect(new Set(used)).toEqual(new Set(Object.values(queues)));
});

function kinds(): StartKind[] {
  return Object.keys(workflowTypes) as StartKind[];
}

function decoded(payload: { data: string } | undefined): unknown {
  return payload === undefined ? undefined : JSON.parse(Buffer.from(payload.data, 'base64').toString('utf8'));
}

interface HistoryEvent {
  readonly userMetadata?: { readonly summary?: { readonly data: string } };
  readonly workflowExecutionStartedEventAttributes?: {
    readonly workflowId: string;
    readonly workflowType: { readonly name: string };
    readonly taskQueue: { readonly name: string };
    readonly input?: { readonly payloads: readonly { readonly data: string }[] };
    readonly priority?: { readonly fairnessKey?: string };
    readonly searchAttributes?: { readonly indexedFields: Readonly<Record<string, unknown>> };
  };
  readonly activityTaskScheduledEventAttributes?: { readonly taskQueue: { readonly name: string } };
}
