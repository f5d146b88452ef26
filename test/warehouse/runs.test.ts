import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { UnknownConnection } from '../../warehouse/errors.ts';
import { noteMissing } from '../../warehouse/passes/note-missing.ts';
import { finishRun } from '../../warehouse/runs/finish-run.ts';
import type { FinishedRun, StreamOutcome } from '../../warehouse/runs/judge-run.ts';
import { readCounts } from '../../warehouse/runs/read-counts.ts';
import { readRuns } from '../../warehouse/runs/read-run.ts';
import { bill } from '../support/finance-records.ts';
import { begin, land, openPass } from '../support/land.ts';
import { rows, type Row } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

describe('a new run', () => {
  test('marks older running runs of its connection, and their streams, as interrupted', async () => {
    const [connectionId, other] = [await addTestConnection(warehouse), await addTestConnection(warehouse)];
    const ended = await runThatRead(connectionId, 'expenses');
    await finishRun(warehouse, {
      runId: ended,
      outcomes: [{ stream: 'expenses', state: 'done' }],
      cancelled: false,
    });
    const { pass: elsewhere } = await openPass(warehouse, { connectionId: other, stream: 'bills' });
    const { pass: older } = await openPass(warehouse, { connectionId, stream: 'bills' });
    const newer = randomUUID();
    await begin(warehouse, { connectionId, runId: newer });
    expect(await statusesOf([ended, elsewhere.runId, older.runId, newer])).toEqual([
      { status: 'succeeded', finished: true, stream: 'succeeded' },
      { status: 'running', finished: false, stream: 'running' },
      { status: 'interrupted', finished: true, stream: 'interrupted' },
      { status: 'running', finished: false, stream: null },
    ]);
  });

  test('interrupts neither itself when it begins again nor newer runs', async () => {
    const connectionId = await addTestConnection(warehouse);
    const [first, second] = [randomUUID(), randomUUID()];
    await begin(warehouse, { connectionId, runId: first });
    await begin(warehouse, { connectionId, runId: first });
    expect(await statusesOf([first])).toMatchObject([{ status: 'running' }]);
    await begin(warehouse, { connectionId, runId: second });
    await begin(warehouse, { connectionId, runId: first });
    expect(await statusesOf([first, second])).toMatchObject([
      { status: 'interrupted' },
      { status: 'running' },
    ]);
  });

  test('is not reopened by an abandoned attempt once it has finished', async () => {
    const connectionId = await addTestConnection(warehouse);
    const runId = await runThatRead(connectionId, 'bills');
    await finishRun(warehouse, { runId, outcomes: [{ stream: 'bills', state: 'done' }], cancelled: false });
    await begin(warehouse, { connectionId, runId });
    expect(await statusesOf([runId])).toEqual([{ status: 'succeeded', finished: true, stream: 'succeeded' }]);
  });

  test('is refused for an unknown connection', async () => {
    await expect(begin(warehouse, { connectionId: 'nobody', runId: randomUUID() })).rejects.toThrow(
      UnknownConnection,
    );
  });
});

describe('the status of a run is never better than the truth', () => {
  const done = (stream: string): StreamOutcome => ({ stream, state: 'done' });
  const failed = (stream: string, failureType = 'GaveUp'): StreamOutcome => ({
    stream,
    state: 'failed',
    failureType,
    failure: `${stream} broke.`,
  });
  const unsupported = (stream: string): StreamOutcome => ({ stream, state: 'unsupported' });

  test.each<[string, StreamOutcome[], string, string | null]>([
    ['every stream is complete', [done('bills'), done('items')], 'succeeded', null],
    ['the others are not supported', [done('bills'), unsupported('items')], 'succeeded', null],
    ['one left records in quarantine', [done('bills'), done('customers')], 'partial', null],
    ['one failed', [done('bills'), failed('items')], 'partial', 'items broke.'],
    ['only an incomplete one got through', [done('customers'), failed('items')], 'partial', 'items broke.'],
    ['all failed alike', [failed('bills'), failed('items')], 'failed', 'bills broke. The same for items.'],
    [
      'all failed, each its own way',
      [failed('bills'), failed('items', 'Down')],
      'failed',
      'bills broke. items broke.',
    ],
    ['the rest are not supported', [failed('bills'), unsupported('items')], 'failed', 'bills broke.'],
    [
      'no list is supported',
      [unsupported('bills'), unsupported('items')],
      'failed',
      'The service lists none of the resources for this connection. Check DAYBOOK_API_URL and the platform.',
    ],
  ])('when %s', async (_, outcomes, status, failure) => {
    const connectionId = await addTestConnection(warehouse);
    const runId = randomUUID();
    await begin(warehouse, { connectionId, runId });
    for (const { stream, state } of outcomes) await readAs(state, { connectionId, runId, stream });
    expect(await finishRun(warehouse, { runId, outcomes, cancelled: false })).toEqual({ status, failure });
    const [run] = await readRuns(warehouse, { temporalRunId: runId, limit: 1 });
    expect(run).toMatchObject({ status, failure, finished_at: expect.any(Date) as unknown });
    const said = outcomes.map(({ stream, failureType = null, failure = null }) => [
      stream,
      failureType,
      failure,
    ]);
    expect(run?.streams.map((read) => [read.stream, read.failure_type, read.failure])).toEqual(
      expect.arrayContaining(said),
    );
  });

  test('when its lists are not offered: it is succeeded only if another list of the connection answers', async () => {
    const connectionId = await addTestConnection(warehouse);
    const outcomes = [unsupported('items')];
    const notOffered = async (): Promise<FinishedRun> => {
      const { pass, taken } = await openPass(warehouse, { connectionId, stream: 'items' });
      if (taken.state === 'open') await noteMissing(warehouse, { pass, requests: 2 });
      return finishRun(warehouse, { runId: pass.runId, outcomes, cancelled: false });
    };
    expect(await notOffered()).toMatchObject({ status: 'failed' });
    const runId = await runThatRead(connectionId, 'bills');
    await finishRun(warehouse, { runId, outcomes: [done('bills')], cancelled: false });
    // First asked, and then remembered.
    expect(await notOffered()).toEqual({ status: 'succeeded', failure: null });
    expect(await notOffered()).toEqual({ status: 'succeeded', failure: null });
  });

  test('when its workflow was reset: a stream that the earlier run has read counts as it ended there', async () => {
    const connectionId = await addTestConnection(warehouse);
    const [before, reset] = [randomUUID(), randomUUID()];
    await begin(warehouse, { connectionId, runId: before });
    for (const stream of ['bills', 'customers'])
      await readAs('done', { connectionId, runId: before, stream });
    const outcomes = [done('bills'), done('customers')];
    await finishRun(warehouse, { runId: before, outcomes, cancelled: false });
    await begin(warehouse, { connectionId, runId: reset });
    expect(await finishRun(warehouse, { runId: reset, outcomes, cancelled: false })).toEqual({
      status: 'partial',
      failure: null,
    });
  });

  test('when it was canceled: it is canceled, as are its unfinished streams', async () => {
    const connectionId = await addTestConnection(warehouse);
    const runId = await runThatRead(connectionId, 'bills');
    await openPass(warehouse, { connectionId, runId, stream: 'items' });
    expect(await finishRun(warehouse, { runId, outcomes: [], cancelled: true })).toEqual({
      status: 'cancelled',
      failure: null,
    });
    const [run] = await readRuns(warehouse, { temporalRunId: runId, limit: 1 });
    expect(run?.streams.map(({ stream, status }) => ({ stream, status }))).toEqual([
      { stream: 'bills', status: 'succeeded' },
      { stream: 'items', status: 'cancelled' },
    ]);
  });
});

test('the counts of a run are the sums of its pages, and zero before the first page', async () => {
  const connectionId = await addTestConnection(warehouse);
  const runId = randomUUID();
  const none = { pages: 0, read: 0, inserted: 0, updated: 0, unchanged: 0, suppressed: 0, quarantined: 0 };
  expect(await readCounts(warehouse, { runId, stream: 'bills' })).toEqual(none);
  const older = bill('a', { last_synced_at: '"2024-01-01T00:00:00Z"' });
  const pages = [[bill('a'), bill('b'), bill('')], [bill('a', { memo: '"new"' }), bill('b')], [older]];
  await land(warehouse, { connectionId, runId, stream: 'bills', pages });
  expect(await readCounts(warehouse, { runId, stream: 'bills' })).toEqual({
    pages: 3,
    read: 6,
    inserted: 2,
    updated: 1,
    unchanged: 1,
    suppressed: 1,
    quarantined: 1,
  });
});

test('runs are listed newest first', async () => {
  const connectionId = await addTestConnection(warehouse);
  const [first, second] = [
    await runThatRead(connectionId, 'bills'),
    await runThatRead(connectionId, 'items'),
  ];
  const runs = await readRuns(warehouse, { connectionId, limit: 10 });
  expect(runs.map(({ run_id, streams }) => [run_id, streams.map(({ stream }) => stream)])).toEqual([
    [second, ['items']],
    [first, ['bills']],
  ]);
  expect(await readRuns(warehouse, { connectionId, limit: 1 })).toHaveLength(1);
  expect(await readRuns(warehouse, { temporalRunId: randomUUID(), limit: 1 })).toEqual([]);
});

test('the totals of a reconcile are read with its runs only on request', async () => {
  const connectionId = await addTestConnection(warehouse);
  const runId = await runThatRead(connectionId, 'bills');
  const totals = { equal: true, source: { USD: { records: '1' } }, warehouse: { USD: { records: '1' } } };
  await warehouse.pool.query('update sync.run_streams set totals = $2 where run_id = $1', [runId, totals]);
  for (const asked of [{ connectionId }, { temporalRunId: runId }]) {
    const [listed] = await readRuns(warehouse, { ...asked, limit: 10 });
    expect(listed?.streams[0]).toMatchObject({ stream: 'bills', status: 'succeeded', failure: null });
    expect(listed?.streams[0]).not.toHaveProperty('totals');
    const [whole] = await readRuns(warehouse, { ...asked, totals: true, limit: 10 });
    expect(whole?.streams[0]).toEqual({ ...listed?.streams[0], totals });
  }
});

/** Brings the stream to the state that it has when the workflow reports this outcome. Customers leave one record in quarantine. */
async function readAs(
  state: StreamOutcome['state'],
  input: { connectionId: string; runId: string; stream: string },
): Promise<void> {
  if (state !== 'done') await openPass(warehouse, input);
  else await land(warehouse, { ...input, pages: [input.stream === 'customers' ? ['{}'] : []] });
}

async function runThatRead(connectionId: string, stream: string): Promise<string> {
  const runId = randomUUID();
  await land(warehouse, { connectionId, runId, stream, pages: [[]] });
  return runId;
}

function statusesOf(runIds: readonly string[]): Promise<Row[]> {
  return rows(
    warehouse,
    `select r.status, r.finished_at is not null as finished, s.status as stream
     from unnest($1::text[]) with ordinality as asked (run_id, place)
     join sync.runs r using (run_id) left join sync.run_streams s using (run_id)
     order by place`,
    [runIds],
  );
}
