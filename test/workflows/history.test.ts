import { expect, test } from 'vitest';
import { createInstallation } from '../support/installation.ts';
import { eventsOf, searchAttributesOf, textOf } from '../support/history-of.ts';
import { untilPages } from '../support/progress-of.ts';
import { endOf, startSync, sync } from '../support/sync.ts';

const installation = await createInstallation();
const { admin, client } = installation;
await installation.startWorker();

test('a history is small: six events a chunk, and no payload of 2 KB', async () => {
  const connection = await installation.connect();
  const { handle } = await sync(installation, connection);
  const events = await eventsOf(handle);
  const activities = events.filter((event) => event.activityTaskScheduledEventAttributes);
  expect(activities).toHaveLength(1 + 8 + 1);
  // Beside the activities: its start and its end, its first task (three events), and two phases.
  expect(events.length).toBeLessThanOrEqual(6 * activities.length + 7);
  const payloads = JSON.stringify(events, (key, value: unknown) =>
    key === 'userMetadata' ? undefined : value,
  );
  for (const [text] of payloads.matchAll(/"data":\{"type":"Buffer","data":\[[\d,]*\]/g))
    expect(text.split(',').length).toBeLessThan(2_048);
});

test('a sync is found by its connection, kind and phase, and its details are a table that people can read', async () => {
  const connection = await installation.connect();
  await admin.configure({ maximumLimit: 5 });
  await admin.addFault({
    match: { connection, path: '/accounting/bills' },
    fault: { kind: 'slow', ms: 200 },
  });
  const handle = await startSync(installation, connection);
  await untilPages(installation, { connection, pages: 2 });
  expect(await searchAttributesOf(handle)).toMatchObject({
    DaybookConnection: connection,
    DaybookKind: 'sync',
    DaybookPhase: 'reading',
  });
  await admin.clearFaults();
  await admin.configure({});
  await endOf(installation, handle, handle.firstExecutionRunId);
  expect(await searchAttributesOf(handle)).toMatchObject({ DaybookPhase: 'succeeded' });
  const metadata = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
  expect(metadata.currentDetails).toMatch(/^\*\*co-.*\*\*: succeeded$/m);
  expect(metadata.currentDetails).toMatch(/^\| bills \| complete \| \d+ \| \d+ \|/m);
  const found = client.workflow.list({ query: `DaybookConnection = '${connection}'` });
  const ids: string[] = [];
  for await (const { workflowId } of found) ids.push(workflowId);
  expect(ids).toEqual([`sync/${connection}`]);
});

test('every activity says what it reads', async () => {
  const connection = await installation.connect();
  const { handle } = await sync(installation, connection);
  const summaries = (await eventsOf(handle))
    .filter((event) => event.activityTaskScheduledEventAttributes)
    .map(({ userMetadata }) => textOf(userMetadata?.summary?.data));
  expect(summaries).toEqual(expect.arrayContaining(['bills', 'refunds', 'subscriptions']));
});
