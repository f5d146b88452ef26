import { expect, test } from 'vitest';
import { fetchEvents, readSearchAttributes, decodePayload } from '../support/workflow-history.ts';
import { createInstallation } from '../support/installation.ts';
import { untilPages } from '../support/sync-progress.ts';
import { rows } from '../support/rows.ts';
import { awaitSync, startSync, statusesOf, sync, sumOverStreams } from '../support/sync.ts';

const installation = await createInstallation();
const { warehouse, admin, client } = installation;
await installation.startWorker();

test('the first sync lands every field of every record exactly', async () => {
  const connection = await installation.connect({ records: 1_500 });
  const { run, failure } = await sync(installation, connection);
  expect(failure).toBeUndefined();
  expect(run.status).toBe('succeeded');
  const comparison = await installation.compare(connection);
  expect(comparison.differences).toEqual([]);
  expect(comparison.records).toBe(sumOverStreams(run, 'inserted'));
  expect(comparison.values).toBeGreaterThan(20_000);
});

test('a second sync without changes writes nothing to finance and history', async () => {
  const connection = await installation.connect();
  await sync(installation, connection);
  const before = await readRowVersions(connection);
  const { run } = await sync(installation, connection);
  expect(run.status).toBe('succeeded');
  expect(sumOverStreams(run, 'inserted')).toBe(0);
  expect(await readRowVersions(connection)).toEqual(before);
});

test('a sync lands changes, and adds no version of records that were only touched', async () => {
  const connection = await installation.connect();
  await sync(installation, connection);
  const versions = await countVersions(connection);
  await admin.activity({ connection, changes: 3, touches: 5 });
  const { run } = await sync(installation, connection);
  expect(run.streams.reduce((sum, { updated }) => sum + updated, 0)).toBe(3 * 6);
  expect((await installation.compare(connection)).differences).toEqual([]);
  expect(await countVersions(connection)).toBe(versions + 3 * 6);
});

test('a platform without subscriptions has an unsupported stream, which the next sync does not request', async () => {
  const connection = await installation.connect({ platform: 'XERO' });
  const first = await sync(installation, connection);
  expect(first.failure).toBeUndefined();
  expect(first.run.status).toBe('succeeded');
  expect(statusesOf(first.run).subscriptions).toBe('unsupported');
  await admin.clearRequests();
  const second = await sync(installation, connection);
  expect(second.run.status).toBe('succeeded');
  const asked = (await admin.requests()).filter((request) => request.connection === connection);
  expect(asked.map(({ path }) => path)).not.toContain('/subscriptions');
  const alone = await sync(installation, connection, { resources: ['subscriptions'] });
  expect(alone.failure).toBeUndefined();
  expect(alone.run).toMatchObject({ status: 'succeeded', failure: null });
  expect((await installation.compare(connection)).differences).toEqual([]);
});

test('the history of a sync has at most six events per activity besides its start and end, and no payload of 2 KB', async () => {
  const connection = await installation.connect();
  const { handle } = await sync(installation, connection);
  const events = await fetchEvents(handle);
  const activities = events.filter((event) => event.activityTaskScheduledEventAttributes);
  expect(activities).toHaveLength(1 + 8 + 1);
  // Besides the activities: the start and the end, the first task (three events), and two phases.
  expect(events.length).toBeLessThanOrEqual(6 * activities.length + 7);
  const payloads = JSON.stringify(events, (key, value: unknown) =>
    key === 'userMetadata' ? undefined : value,
  );
  for (const [text] of payloads.matchAll(/"data":\{"type":"Buffer","data":\[[\d,]*\]/g))
    expect(text.split(',').length).toBeLessThan(2_048);
});

test('a sync has search attributes for its connection, kind and phase, and a readable table of details', async () => {
  const connection = await installation.connect();
  await admin.configure({ maximumLimit: 5 });
  await admin.addFault({
    match: { connection, path: '/accounting/bills' },
    fault: { kind: 'slow', ms: 200 },
  });
  const handle = await startSync(installation, connection);
  await untilPages(installation, { connection, pages: 2 });
  expect(await readSearchAttributes(handle)).toMatchObject({
    DaybookConnection: connection,
    DaybookKind: 'sync',
    DaybookPhase: 'reading',
  });
  await admin.clearFaults();
  await admin.configure({});
  await awaitSync(installation, handle, handle.firstExecutionRunId);
  expect(await readSearchAttributes(handle)).toMatchObject({ DaybookPhase: 'succeeded' });
  const metadata = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
  expect(metadata.currentDetails).toMatch(/^\*\*co-.*\*\*: succeeded$/m);
  expect(metadata.currentDetails).toMatch(/^\| bills \| complete \| \d+ \| \d+ \|/m);
  const found = client.workflow.list({ query: `DaybookConnection = '${connection}'` });
  const ids: string[] = [];
  for await (const { workflowId } of found) ids.push(workflowId);
  expect(ids).toEqual([`sync/${connection}`]);
});

test('an activity that reads a stream names the stream in its summary', async () => {
  const connection = await installation.connect();
  const { handle } = await sync(installation, connection);
  const summaries = (await fetchEvents(handle))
    .filter((event) => event.activityTaskScheduledEventAttributes)
    .map(({ userMetadata }) => decodePayload(userMetadata?.summary?.data));
  expect(summaries).toEqual(expect.arrayContaining(['bills', 'refunds', 'subscriptions']));
});

/** The location and the writer of every row, which any write changes. */
async function readRowVersions(connection: string): Promise<unknown[]> {
  const tables = await rows(
    warehouse,
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname in ('finance', 'history') order by 1`,
  );
  const statements = tables.map(
    ({ name }) =>
      `select '${String(name)}' as name, count(*), sum(hashtextextended(ctid::text || xmin::text, 0))
       from ${String(name)} where connection_id = $1`,
  );
  return rows(warehouse, statements.join(' union all '), [connection]);
}

async function countVersions(connection: string): Promise<number> {
  const [row] = await rows(
    warehouse,
    'select count(*) as versions from history.record_versions where connection_id = $1',
    [connection],
  );
  return Number(row?.versions);
}
