import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { setToken } from '../../warehouse/connections/set-token.ts';
import { LeaseLost } from '../../warehouse/errors.ts';
import { countRequests, noteFailing } from '../../warehouse/passes/note-failing.ts';
import { noteMissing, noteNotMissing } from '../../warehouse/passes/note-missing.ts';
import type { PassInHand } from '../../warehouse/passes/pass.ts';
import { finishRun } from '../../warehouse/runs/finish-run.ts';
import { bill } from '../support/finance-records.ts';
import { land, landRecords, openPass } from '../support/land.ts';
import { row, type Row } from '../support/rows.ts';
import { addTestConnection, testKey } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

const tenMinutes = 600_000;

describe('the watermark', () => {
  test('becomes the highest version seen, to the microsecond, whatever the order of the page', async () => {
    const connectionId = await addTestConnection(warehouse);
    const pages = [[billAt('2024-02-01T00:00:00.000002Z', 'b'), billAt('2024-02-01T00:00:00.000001Z', 'a')]];
    await land(warehouse, { connectionId, stream: 'bills', pages });
    expect(await watermarkOf(connectionId)).toBe('2024-02-01 00:00:00.000002+00');
  });

  test('only ever moves forward', async () => {
    const connectionId = await addTestConnection(warehouse);
    await land(warehouse, { connectionId, stream: 'bills', pages: [[billAt('2024-02-02T00:00:00Z')]] });
    await land(warehouse, { connectionId, stream: 'bills', pages: [[billAt('2024-02-01T00:00:00Z')]] });
    expect(await watermarkOf(connectionId)).toBe('2024-02-02 00:00:00+00');
  });

  test('stays when there are no records, and the pass succeeds', async () => {
    const connectionId = await addTestConnection(warehouse);
    await land(warehouse, { connectionId, stream: 'bills', pages: [[billAt('2024-02-02T00:00:00Z')]] });
    await land(warehouse, { connectionId, stream: 'bills', pages: [[]] });
    expect(await watermarkOf(connectionId)).toBe('2024-02-02 00:00:00+00');
    expect(
      await row(
        warehouse,
        `select status, watermark_before::text, watermark_after::text from sync.run_streams
         where connection_id = $1 order by started_at desc limit 1`,
        [connectionId],
      ),
    ).toEqual({
      status: 'succeeded',
      watermark_before: '2024-02-02 00:00:00+00',
      watermark_after: '2024-02-02 00:00:00+00',
    });
  });

  test('is absent after an empty first pass, so that the next one reads everything again', async () => {
    const connectionId = await addTestConnection(warehouse);
    await land(warehouse, { connectionId, stream: 'bills', pages: [[]] });
    expect(await watermarkOf(connectionId)).toBeNull();
    const { taken } = await openPass(warehouse, { connectionId, stream: 'bills' });
    expect(taken).toMatchObject({ state: 'open', cursor: null, floorMilliseconds: null });
  });

  test('does not count a record in quarantine', async () => {
    const connectionId = await addTestConnection(warehouse);
    const bad = bill('x', { total_amount: '"1"', last_synced_at: '"2024-03-01T00:00:00Z"' });
    await land(warehouse, { connectionId, stream: 'bills', pages: [[billAt('2024-02-01T00:00:00Z'), bad]] });
    expect(await watermarkOf(connectionId)).toBe('2024-02-01 00:00:00+00');
  });
});

describe('the floor of a pass', () => {
  test.each([
    ['2024-02-01T00:10:00Z', tenMinutes, '2024-02-01T00:00:00.000Z'],
    ['2024-02-01T00:10:00.000999Z', tenMinutes, '2024-02-01T00:00:00.000Z'],
    ['2024-02-01T00:10:00.001999Z', 0, '2024-02-01T00:10:00.001Z'],
    ['1969-12-31T23:59:59.999500Z', 0, '1969-12-31T23:59:59.999Z'],
  ])(
    'after the watermark %s with a lookback of %i ms is %s, never later',
    async (version, lookback, floor) => {
      const connectionId = await addTestConnection(warehouse);
      await land(warehouse, { connectionId, stream: 'bills', pages: [[billAt(version)]] });
      const { taken } = await openPass(warehouse, {
        connectionId,
        stream: 'bills',
        lookbackMilliseconds: lookback,
      });
      expect(taken).toMatchObject({ state: 'open', cursor: null, floorMilliseconds: Date.parse(floor) });
    },
  );

  test('is absent for the first pass', async () => {
    const connectionId = await addTestConnection(warehouse);
    const { taken } = await openPass(warehouse, { connectionId, stream: 'bills' });
    expect(taken).toMatchObject({ state: 'open', cursor: null, floorMilliseconds: null });
  });

  test('belongs to one stream: a read of expenses sets none for refunds', async () => {
    const connectionId = await addTestConnection(warehouse);
    await land(warehouse, { connectionId, stream: 'expenses', pages: [[]] });
    const { taken } = await openPass(warehouse, { connectionId, stream: 'refunds' });
    expect(taken).toMatchObject({ state: 'open', cursor: null, floorMilliseconds: null });
  });
});

describe('an open pass', () => {
  test('continues from its cursor with its own floor, even in another run', async () => {
    const connectionId = await addTestConnection(warehouse);
    await land(warehouse, { connectionId, stream: 'bills', pages: [[billAt('2024-02-01T00:10:00Z')]] });
    const { pass } = await openPass(warehouse, { connectionId, stream: 'bills' });
    await landRecords(warehouse, { pass, records: [billAt('2024-02-05T00:00:00Z')], nextCursor: 'page-2' });
    const { taken } = await openPass(warehouse, { connectionId, stream: 'bills', lookbackMilliseconds: 0 });
    expect(taken).toMatchObject({
      state: 'open',
      cursor: 'page-2',
      floorMilliseconds: Date.parse('2024-02-01T00:00:00Z'),
    });
  });

  test('is reopened by the run that had failed on it', async () => {
    const connectionId = await addTestConnection(warehouse);
    const { pass } = await openPass(warehouse, { connectionId, stream: 'bills' });
    await landRecords(warehouse, { pass, records: [bill('b')], nextCursor: 'page-2' });
    const outcomes = [
      { stream: 'bills', state: 'failed', failureType: 'GaveUp', failure: 'It broke.' } as const,
    ];
    await finishRun(warehouse, { runId: pass.runId, outcomes, cancelled: false });
    expect(await runStreamOf(pass.runId)).toMatchObject({ status: 'failed', failure: 'It broke.' });

    const { taken } = await openPass(warehouse, { connectionId, stream: 'bills', runId: pass.runId });
    expect(taken).toMatchObject({ state: 'open', cursor: 'page-2' });
    expect(await runStreamOf(pass.runId)).toMatchObject({
      status: 'running',
      failure: null,
      failure_type: null,
    });
  });

  test('is not reopened by an attempt that outlives its run', async () => {
    const connectionId = await addTestConnection(warehouse);
    const { pass } = await openPass(warehouse, { connectionId, stream: 'bills' });
    await openPass(warehouse, { connectionId, stream: 'bills' });
    for (const stream of ['bills', 'customers']) {
      const { taken } = await openPass(warehouse, { connectionId, stream, runId: pass.runId });
      expect(taken).toEqual({ state: 'done' });
    }
    const of = 'select stream, status from sync.run_streams where run_id = $1 order by stream';
    expect((await warehouse.pool.query(of, [pass.runId])).rows).toEqual([
      { stream: 'bills', status: 'interrupted' },
      { stream: 'customers', status: 'interrupted' },
    ]);
  });

  test('is done for the run that completed it, and a later run opens a new one', async () => {
    const connectionId = await addTestConnection(warehouse);
    const runId = randomUUID();
    await land(warehouse, {
      connectionId,
      stream: 'bills',
      runId,
      pages: [[billAt('2024-02-01T00:10:00Z')]],
    });
    const again = await openPass(warehouse, { connectionId, stream: 'bills', runId });
    expect(again.taken).toEqual({ state: 'done' });
    const later = await openPass(warehouse, { connectionId, stream: 'bills' });
    expect(later.taken).toMatchObject({ state: 'open', cursor: null });
  });
});

describe('a list that the platform does not support', () => {
  test('is remembered as unsupported in the next run, and never taken for an empty list', async () => {
    const connectionId = await addTestConnection(warehouse);
    const { pass } = await openPass(warehouse, { connectionId, stream: 'bills' });
    expect(await noteMissing(warehouse, { pass, requests: 1 })).toBe('unsupported');
    expect(await runStreamOf(pass.runId)).toMatchObject({ status: 'unsupported', requests: 1 });
    expect(await watermarkOf(connectionId)).toBeNull();

    const sameRun = await openPass(warehouse, { connectionId, stream: 'bills', runId: pass.runId });
    expect(sameRun.taken).toEqual({ state: 'unsupported' });
    await endWithAnother(pass);
    const nextRun = await openPass(warehouse, { connectionId, stream: 'bills' });
    expect(nextRun.taken).toEqual({ state: 'unsupported' });
    expect(await runStreamOf(nextRun.pass.runId)).toMatchObject({ status: 'unsupported', requests: 0 });
  });

  test('is requested again when its run was interrupted, or when no other list answered', async () => {
    const connectionId = await addTestConnection(warehouse);
    const { pass } = await openPass(warehouse, { connectionId, stream: 'bills' });
    await noteMissing(warehouse, { pass, requests: 1 });
    const next = await openPass(warehouse, { connectionId, stream: 'bills' });
    expect(next.taken.state).toBe('open');
    await noteMissing(warehouse, { pass: next.pass, requests: 1 });
    const outcomes = [{ stream: 'bills', state: 'unsupported' as const }];
    await finishRun(warehouse, { runId: next.pass.runId, outcomes, cancelled: false });
    expect((await openPass(warehouse, { connectionId, stream: 'bills' })).taken.state).toBe('open');
  });

  test('is requested again with another token', async () => {
    const connectionId = await addTestConnection(warehouse);
    const { pass } = await openPass(warehouse, { connectionId, stream: 'bills' });
    await noteMissing(warehouse, { pass, requests: 1 });
    await endWithAnother(pass);
    await setToken(warehouse, testKey, { connectionId, token: 'another' });
    expect((await openPass(warehouse, { connectionId, stream: 'bills' })).taken.state).toBe('open');
  });

  test('is requested again when it was recorded in the future by a wrong clock', async () => {
    const connectionId = await addTestConnection(warehouse);
    const { pass } = await openPass(warehouse, { connectionId, stream: 'bills' });
    await noteMissing(warehouse, { pass, requests: 1 });
    await endWithAnother(pass);
    await warehouse.pool.query(
      `update sync.streams set capability_checked_at = now() + interval '60 days' where connection_id = $1`,
      [connectionId],
    );
    expect((await openPass(warehouse, { connectionId, stream: 'bills' })).taken.state).toBe('open');
  });

  test('is requested again after a day, and is supported once it answers', async () => {
    const connectionId = await addTestConnection(warehouse);
    const { pass } = await openPass(warehouse, { connectionId, stream: 'bills' });
    expect(await noteMissing(warehouse, { pass, requests: 1 })).toBe('unsupported');
    await endWithAnother(pass);
    await warehouse.pool.query(
      `update sync.streams set capability_checked_at = now() - interval '1 day 1 second' where connection_id = $1`,
      [connectionId],
    );
    await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b')]] });
    expect(
      await row(
        warehouse,
        `select capability from sync.streams where connection_id = $1 and stream = 'bills'`,
        [connectionId],
      ),
    ).toEqual({ capability: 'supported' });
  });
});

/** Ends the run of a list that is not offered, after another list has answered. */
async function endWithAnother({ connectionId, runId }: PassInHand): Promise<void> {
  await land(warehouse, { connectionId, stream: 'customers', runId, pages: [[]] });
  const outcomes = [
    { stream: 'bills', state: 'unsupported' as const },
    { stream: 'customers', state: 'done' as const },
  ];
  await finishRun(warehouse, { runId, outcomes, cancelled: false });
}

describe('a list that answers 404 after it returned a page', () => {
  test('is requested again by the next run, even if a worker of 0.5 marked it unsupported', async () => {
    const connectionId = await addTestConnection(warehouse);
    await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b')]] });
    await missBills(connectionId);
    expect((await openPass(warehouse, { connectionId, stream: 'bills' })).taken.state).toBe('open');
    await set(
      connectionId,
      `capability = 'unsupported', missing_since = null, capability_checked_at = now()`,
    );
    expect((await openPass(warehouse, { connectionId, stream: 'bills' })).taken.state).toBe('open');
    expect(await missBills(connectionId)).toBe('missing');
  });

  test('is unsupported after 7 days if other lists answer, until a page comes', async () => {
    const connectionId = await addTestConnection(warehouse);
    await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b')]] });
    expect(await missBills(connectionId)).toBe('missing');
    await set(connectionId, `missing_since = now() - interval '169 hours'`);
    expect(await missBills(connectionId)).toBe('missing');
    await land(warehouse, { connectionId, stream: 'customers', pages: [[]] });
    expect(await missBills(connectionId)).toBe('unsupported');
    expect((await openPass(warehouse, { connectionId, stream: 'bills' })).taken.state).toBe('unsupported');
    await set(connectionId, `capability_checked_at = now() - interval '25 hours'`);
    await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b')]] });
    expect(await missBills(connectionId)).toBe('missing');
  });

  test.for([
    ['another answer', async ({ pass }: { pass: PassInHand }) => noteNotMissing(warehouse, pass)],
    [
      'days in which nobody asked',
      async ({ pass }: { pass: PassInHand }) =>
        set(pass.connectionId, `missing_at = now() - interval '3 days'`),
    ],
  ] as const)('restarts its 7 days after %s', async ([, interrupt]) => {
    const connectionId = await addTestConnection(warehouse);
    await land(warehouse, { connectionId, stream: 'customers', pages: [[]] });
    await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b')]] });
    await missBills(connectionId);
    await set(connectionId, `missing_since = now() - interval '169 hours'`);
    await interrupt(await openPass(warehouse, { connectionId, stream: 'bills' }));
    expect(await missBills(connectionId)).toBe('missing');
  });

  test('is not judged by an attempt that lost its lease', async () => {
    const connectionId = await addTestConnection(warehouse);
    const { pass } = await openPass(warehouse, { connectionId, stream: 'bills' });
    await openPass(warehouse, { connectionId, stream: 'bills', runId: pass.runId });
    await expect(noteMissing(warehouse, { pass, requests: 1 })).rejects.toThrow(LeaseLost);
  });

  async function missBills(connectionId: string): Promise<string> {
    const { pass } = await openPass(warehouse, { connectionId, stream: 'bills' });
    return noteMissing(warehouse, { pass, requests: 1 });
  }

  async function set(connectionId: string, changes: string): Promise<void> {
    await warehouse.pool.query(
      `update sync.streams set ${changes} where connection_id = $1 and stream = 'bills'`,
      [connectionId],
    );
  }
});

test('the time of failing requests restarts with each run', async () => {
  const connectionId = await addTestConnection(warehouse);
  const { pass } = await openPass(warehouse, { connectionId, stream: 'bills' });
  await noteFailing(warehouse, { pass, requests: 1 });
  await warehouse.pool.query(
    `update sync.passes set failing_since = failing_since - interval '1 hour' where connection_id = $1`,
    [connectionId],
  );
  const same = await openPass(warehouse, { connectionId, stream: 'bills', runId: pass.runId });
  expect(await noteFailing(warehouse, { pass: same.pass, requests: 1 })).toBeGreaterThan(3_000_000);
  const next = await openPass(warehouse, { connectionId, stream: 'bills' });
  expect(await noteFailing(warehouse, { pass: next.pass, requests: 1 })).toBeLessThan(60_000);
});

test('the time of failing requests ignores a start in the future, recorded by a wrong Postgres clock', async () => {
  const connectionId = await addTestConnection(warehouse);
  const { pass } = await openPass(warehouse, { connectionId, stream: 'bills' });
  const put = (where: string): Promise<unknown> =>
    warehouse.pool.query(
      `update sync.passes set failing_since = failing_since + interval '${where}' where connection_id = $1`,
      [connectionId],
    );
  await noteFailing(warehouse, { pass, requests: 1 });
  await put('20 hours');
  expect(await noteFailing(warehouse, { pass, requests: 1 })).toBeGreaterThanOrEqual(0);
  await put('-1 hour');
  expect(await noteFailing(warehouse, { pass, requests: 1 })).toBeGreaterThanOrEqual(3_600_000);
});

test('the time of failing requests counts from the first failure, and ends with a page', async () => {
  const connectionId = await addTestConnection(warehouse);
  const { pass } = await openPass(warehouse, { connectionId, stream: 'bills' });
  expect(await noteFailing(warehouse, { pass, requests: 2 })).toBeLessThan(60_000);
  await warehouse.pool.query(
    `update sync.passes set failing_since = failing_since - interval '1 hour' where connection_id = $1`,
    [connectionId],
  );
  expect(await noteFailing(warehouse, { pass, requests: 3 })).toBeGreaterThanOrEqual(3_600_000);
  await landRecords(warehouse, { pass, records: [bill('b')], nextCursor: 'page-2' });
  expect(await noteFailing(warehouse, { pass, requests: 0 })).toBeLessThan(60_000);
  await countRequests(warehouse, { pass, requests: 4 });
  expect(await runStreamOf(pass.runId)).toMatchObject({ requests: 2 + 3 + 1 + 4 });
});

function billAt(lastSyncedAt: string, id = 'b'): string {
  return bill(id, { last_synced_at: `"${lastSyncedAt}"` });
}

async function watermarkOf(connectionId: string): Promise<unknown> {
  const stream = await row(warehouse, 'select watermark::text from sync.streams where connection_id = $1', [
    connectionId,
  ]);
  return stream.watermark;
}

function runStreamOf(runId: string): Promise<Row> {
  return row(
    warehouse,
    'select status, requests, failure_type, failure from sync.run_streams where run_id = $1',
    [runId],
  );
}
