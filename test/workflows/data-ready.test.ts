import { afterEach, describe, expect, test } from 'vitest';
import { dataReadySignal, syncNowUpdate } from '../../workflows/sync-connection.ts';
import { blockWrites, waitingSessions } from '../support/blocked-session.ts';
import { eventually } from '../support/eventually.ts';
import { createInstallation } from '../support/installation.ts';
import { untilPages } from '../support/sync-progress.ts';
import { proofTest } from '../support/proof-test.ts';
import { rows } from '../support/rows.ts';
import { awaitSync, readRunByTemporalId, startSync, sync, type SyncHandle } from '../support/sync.ts';
import { startTemporalWith } from '../support/temporal-with.ts';
import { changeBill, readIds } from '../webhooks/company.ts';

// Temporal suggests a new execution after 4,096 events; with a lower limit the test need not read for hours.
const temporalAddress = await startTemporalWith('limit.historyCount.suggestContinueAsNew=60');
const installation = await createInstallation({ temporalAddress });
const { admin, client, databaseUrl, warehouse } = installation;
await installation.startWorker();

afterEach(async () => {
  await admin.clearFaults();
  await admin.configure({});
});

test('syncNow answers which run will have read what the source has now, and that run has', async () => {
  const connection = await begun();
  const blocked = await blockWrites(databaseUrl, 'finance.items');
  const handle = await startSync(installation, connection);
  await untilRead(connection, 'bills');
  const [id = ''] = await readIds(installation, connection);
  await changeBill(installation, connection, { id, memo: 'before it was asked' });
  const answer = await handle.executeUpdate(syncNowUpdate);
  expect(answer).toEqual({ runId: handle.firstExecutionRunId, readsIn: 'the run that follows it' });
  await blocked.letGo();
  await awaitSync(installation, handle, handle.firstExecutionRunId);
  expect((await installation.compare(connection)).differences).toEqual([]);
});

test('syncNow answers with the current run if it has read nothing yet, and no other run follows', async () => {
  const connection = await installation.connect({ ready: false });
  const handle = await startSync(installation, connection);
  await untilAllWait(handle);
  expect(await handle.executeUpdate(syncNowUpdate)).toMatchObject({ readsIn: 'this run' });
  await admin.execute({ kind: 'make-ready', connection });
  await handle.result();
  expect(await readRuns(connection)).toEqual([{ status: 'succeeded', reason: 'test' }]);
});

describe('dataReady leads to a read that begins after it', () => {
  test('if it arrives while another list is read', async () => {
    const connection = await begun();
    const blocked = await blockWrites(databaseUrl, 'finance.items');
    const handle = await startSync(installation, connection);
    await untilRead(connection, 'bills');
    await announce(connection, handle);
    await blocked.letGo();
    expect((await awaitSync(installation, handle, handle.firstExecutionRunId)).failure).toBeUndefined();
    await expectReadAgain(connection, ['succeeded', 'succeeded', 'succeeded']);
  });

  test('and the run is partial if what that read committed is lost, although the run before has read the list', async () => {
    const connection = await begun();
    const blocked = await blockWrites(databaseUrl, 'finance.items');
    const handle = await startSync(installation, connection);
    await untilRead(connection, 'bills');
    await announce(connection, handle);
    const slow = {
      match: { connection, path: '/accounting/items' },
      fault: { kind: 'slow', ms: 3_000 },
    } as const;
    await admin.addFault(slow);
    await blocked.letGo();
    // A standby that takes over without the last commits has this effect.
    const lost = await eventually(async () => {
      const [second] = await rows(
        warehouse,
        `delete from sync.run_streams s using sync.runs r
         where r.connection_id = $1 and s.run_id = r.run_id and r.reason = 'data ready'
           and s.stream = 'bills' and s.status = 'succeeded'
         returning r.temporal_run_id`,
        [connection],
      );
      return second;
    });
    await handle.result();
    expect(await readRunByTemporalId(installation, String(lost.temporal_run_id))).toMatchObject({
      status: 'partial',
      failure: expect.stringContaining('That bills was read is not written') as string,
    });
  });

  proofTest('if it arrives while the same list is read', async () => {
    const connection = await installation.connect();
    const blocked = await blockWrites(databaseUrl, 'finance.bills');
    const handle = await startSync(installation, connection);
    await waitingSessions(databaseUrl);
    await announce(connection, handle);
    await blocked.letGo();
    await awaitSync(installation, handle, handle.firstExecutionRunId);
    await expectReadAgain(connection, ['succeeded', 'succeeded']);
  });

  proofTest('if it arrives while the run is being closed', async () => {
    const connection = await installation.connect();
    const [blockedEvents, path] = [{ kind: 'slow', ms: 2_000 } as const, '/events'];
    await admin.addFault({ match: { connection, path }, times: 1, fault: blockedEvents });
    const handle = await startSync(installation, connection);
    await untilEventsAreRead(connection);
    const blocked = await blockWrites(databaseUrl, 'sync.runs');
    await waitingSessions(databaseUrl);
    await announce(connection, handle);
    await blocked.letGo();
    await awaitSync(installation, handle, handle.firstExecutionRunId);
    await expectReadAgain(connection, ['succeeded', 'succeeded']);
  });

  proofTest('even if the run fails', async () => {
    const connection = await begun();
    await admin.addFault({
      match: { connection, path: '/accounting/customers' },
      times: 1,
      fault: { kind: 'status', status: 403 },
    });
    const blocked = await blockWrites(databaseUrl, 'finance.items');
    const handle = await startSync(installation, connection);
    await untilRead(connection, 'bills');
    await announce(connection, handle);
    await blocked.letGo();
    await awaitSync(installation, handle, handle.firstExecutionRunId);
    await expectReadAgain(connection, ['succeeded', 'partial', 'succeeded']);
  });

  proofTest('if it arrives in a run of another resource', async () => {
    const connection = await installation.connect();
    await sync(installation, connection);
    const blocked = await blockWrites(databaseUrl, 'sync.run_streams');
    const handle = await startSync(installation, connection, { resources: ['items'] });
    await waitingSessions(databaseUrl);
    await announce(connection, handle);
    await blocked.letGo();
    await awaitSync(installation, handle, handle.firstExecutionRunId);
    await expectReadAgain(connection, ['succeeded', 'succeeded', 'succeeded']);
  });

  proofTest('if it arrives in a run with a long history', async () => {
    const connection = await installation.connect({ records: 600 });
    await admin.configure({ maximumLimit: 3 });
    const handle = await startSync(installation, connection);
    await untilPages(installation, { connection, pages: 1 });
    await announce(connection, handle);
    await awaitSync(installation, handle, handle.firstExecutionRunId);
    await expectReadAgain(connection, ['succeeded', 'succeeded']);
  });

  proofTest('if it arrives in a run that continues a list of an earlier run', async () => {
    const connection = await installation.connect();
    await admin.configure({ maximumLimit: 5 });
    await admin.addFault({
      match: { connection, path: '/accounting/bills' },
      fault: { kind: 'slow', ms: 500 },
    });
    const first = await startSync(installation, connection);
    await untilPages(installation, { connection, pages: 2 });
    await first.terminate('test');
    await admin.clearFaults();
    const handle = await client.workflow.signalWithStart('syncConnection', {
      workflowId: first.workflowId,
      taskQueue: 'daybook',
      args: [{ connection, reason: 'test' }],
      signal: dataReadySignal,
      signalArgs: [],
    });
    await handle.result();
    await expectReadAgain(connection, ['interrupted', 'succeeded', 'succeeded']);
  });
});

describe('dataReady costs no second run', () => {
  test('if it arrives before any list is read', async () => {
    const connection = await installation.connect({ ready: false });
    const handle = await startSync(installation, connection);
    await untilAllWait(handle);
    await handle.signal(dataReadySignal);
    await admin.execute({ kind: 'make-ready', connection });
    await awaitSync(installation, handle, handle.firstExecutionRunId);
    expect(await readRuns(connection)).toEqual([{ status: 'succeeded', reason: 'test' }]);
  });

  proofTest('if the run is cancelled', async () => {
    const connection = await begun();
    const blocked = await blockWrites(databaseUrl, 'finance.items');
    const handle = await startSync(installation, connection);
    await untilRead(connection, 'bills');
    await handle.signal(dataReadySignal);
    await handle.cancel();
    await blocked.letGo();
    await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
    expect(await readRuns(connection)).toMatchObject([{ status: 'succeeded' }, { status: 'cancelled' }]);
  });
});

proofTest(
  '"daybook sync" prints and exits with the outcome of its own run, and says that another run follows',
  async () => {
    const connection = await begun();
    const blocked = await blockWrites(databaseUrl, 'finance.items');
    const command = installation.run(['sync', connection]);
    await untilRead(connection, 'customers');
    // The failure of the next run is not its own.
    await admin.addFault({
      match: { connection, path: '/accounting/customers' },
      fault: { kind: 'status', status: 403 },
    });
    await client.workflow.getHandle(`sync/${connection}`).signal(dataReadySignal);
    await blocked.letGo();
    const { code, stdout, stderr } = await command;
    expect(stdout).toContain(`Sync of ${connection} succeeded`);
    expect(stderr).toContain('More data was announced meanwhile: another run has started to read it.');
    expect(code).toBe(0);
    await eventually(async () => {
      expect(await readRuns(connection)).toMatchObject([
        { status: 'succeeded' },
        { status: 'succeeded' },
        { status: 'partial' },
      ]);
      return true;
    });
  },
);

/** A connection whose identity is pinned, so that no list waits for the first page of another. */
async function begun(): Promise<string> {
  const connection = await installation.connect();
  await sync(installation, connection, { resources: ['customers'] });
  return connection;
}

/** Waits until the service has told every list to wait. */
async function untilAllWait(handle: SyncHandle): Promise<void> {
  await eventually(async () => {
    const { events = [] } = await handle.fetchHistory();
    const asked = events?.filter((event) => event.activityTaskScheduledEventAttributes).length;
    const answered = events?.filter((event) => event.activityTaskCompletedEventAttributes).length;
    const waits = events?.some((event) => event.timerStartedEventAttributes);
    return waits && asked === answered ? true : undefined;
  });
}

/** Changes a bill, and signals that there is more to read. */
async function announce(connection: string, handle: SyncHandle): Promise<void> {
  const [id = ''] = await readIds(installation, connection);
  await changeBill(installation, connection, { id, memo: 'announced' });
  await handle.signal(dataReadySignal);
}

async function expectReadAgain(connection: string, statuses: readonly string[]): Promise<void> {
  const runs = await readRuns(connection);
  expect(runs.map(({ status }) => status)).toEqual(statuses);
  expect(runs.at(-1)?.reason).toBe('data ready');
  expect((await installation.compare(connection)).differences).toEqual([]);
}

function readRuns(connection: string): Promise<{ status?: unknown; reason?: unknown }[]> {
  return rows(
    warehouse,
    `select status, reason from sync.runs where connection_id = $1 order by started_at`,
    [connection],
  );
}

/** Waits until the running run has read a list to its end. */
async function untilRead(connection: string, stream: string): Promise<void> {
  await eventually(async () => {
    const read = await rows(
      warehouse,
      `select from sync.run_streams s join sync.runs r using (run_id)
       where r.connection_id = $1 and r.status = 'running' and s.stream = $2 and s.status = 'succeeded'`,
      [connection, stream],
    );
    return read.length > 0 ? true : undefined;
  });
}

/** Waits until the request for the events is under way. */
async function untilEventsAreRead(connection: string): Promise<void> {
  await eventually(async () => {
    const taken = await rows(
      warehouse,
      `select from sync.passes where connection_id = $1 and stream = 'events'`,
      [connection],
    );
    return taken.length > 0 ? true : undefined;
  });
}
