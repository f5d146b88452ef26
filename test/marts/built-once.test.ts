import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { isPatienceOver, type BuildTargetInput, type MartsOutcome } from '../../activities/build-marts.ts';
import { signals } from '../../temporal/messages.ts';
import { startRequest } from '../../temporal/start-request.ts';
import { mainQueue, martsQueue } from '../../temporal/task-queues.ts';
import { BuildRunning } from '../../warehouse/marts/build-lock.ts';
import { workflowBundle } from '../../worker/workflow-bundle.ts';
import { createTestNamespace } from '../support/temporal-namespace.ts';

const { client, address, namespace } = await createTestNamespace();

/** The builds that the workflow has asked for, and how each ends. */
let asked: string[];
let endings: MartsOutcome[];
let whileBuilding: () => Promise<unknown>;
const built = { as_of_date: '2026-11-21', marts: 24, tests: 300 };

beforeAll(async () => {
  const connection = await NativeConnection.connect({ address });
  const workers = await Promise.all([
    Worker.create({
      connection,
      namespace,
      taskQueue: mainQueue,
      workflowBundle: await workflowBundle(),
    }),
    Worker.create({
      connection,
      namespace,
      taskQueue: martsQueue,
      activities: {
        async buildMarts({ target, copies = false }: BuildTargetInput): Promise<MartsOutcome> {
          asked.push(copies ? `${target}, copied` : target);
          await whileBuilding();
          return endings.shift() ?? { built };
        },
      },
    }),
  ]);
  const running = workers.map((worker) => worker.run());
  afterAll(async () => {
    for (const worker of workers) worker.shutdown();
    await Promise.all(running);
    await connection.close();
  });
});

beforeEach(() => {
  asked = [];
  endings = [];
  whileBuilding = () => Promise.resolve();
});

test('after an export, marts are built on the lake and copied into Postgres', async () => {
  endings = [{ built, copied: 24 }];
  expect(await build({ afterExport: true })).toEqual({
    postgres: { built },
    lake: { built, copied: 24 },
  });
  expect(asked).toEqual(['lake, copied']);
});

test.each([
  ['was not copied', { built, notCopied: 'A connection was removed.' }],
  ['was skipped', { skipped: 'There is no snapshot.' }],
])('Postgres builds its own marts if the build on the lake %s', async (_, ending) => {
  endings = [ending];
  expect(await build({ afterExport: true })).toEqual({ postgres: { built }, lake: ending });
  expect(asked).toEqual(['lake, copied', 'postgres']);
});

test('Postgres builds its own marts while the lake cannot be built, which is then built without a copy', async () => {
  endings = [{ putOff: 'Storage is away.' }];
  expect(await build({ afterExport: true })).toEqual({ postgres: { built }, lake: { built } });
  expect(asked).toEqual(['lake, copied', 'postgres', 'lake']);
});

test('marts are built in Postgres first where nobody has exported anything new', async () => {
  await build({});
  await build({ afterExport: false });
  expect(asked).toEqual(['postgres', 'lake', 'postgres', 'lake']);
});

test.each([
  ['copied after an export', [{ afterExport: true }], ['lake, copied']],
  ['built in Postgres after an export that was skipped', [{ afterExport: false }], ['postgres', 'lake']],
  ['built in Postgres if an older release or a person asks', [], ['postgres', 'lake']],
  ['built in Postgres if the input is none', [null], ['postgres', 'lake']],
])('marts that are asked for during a build are %s', async (_, signalArgs, next) => {
  const handle = client.workflow.getHandle('marts');
  let isFirst = true;
  whileBuilding = async () => {
    if (isFirst) await handle.signal(signals.requestMarts, ...signalArgs);
    isFirst = false;
  };
  endings = [{ built }, { built }, ...(next.length === 1 ? [{ built, copied: 24 }] : [])];
  await build({});
  expect(asked).toEqual(['postgres', 'lake', ...next]);
});

test('the lake is waited for ten minutes, but not if only a build or the database is in the way', () => {
  const failure = new Error('The bucket is away.');
  const minutesAgo = (minutes: number): { attempt: number; scheduledTimestampMs: number } => ({
    attempt: 2,
    scheduledTimestampMs: Date.now() - minutes * 60_000,
  });
  expect(isPatienceOver(minutesAgo(11), failure)).toBe(true);
  expect(isPatienceOver(minutesAgo(9), failure)).toBe(false);
  expect(isPatienceOver({ ...minutesAgo(11), attempt: 1 }, failure)).toBe(false);
  expect(isPatienceOver(minutesAgo(11), new BuildRunning())).toBe(false);
  expect(isPatienceOver(minutesAgo(11), Object.assign(new Error(), { code: 'ECONNREFUSED' }))).toBe(false);
});

async function build(input: { afterExport?: boolean }): Promise<unknown> {
  const { workflowType, options } = startRequest('marts', { reason: 'test', ...input }, 'people');
  return client.workflow.execute(workflowType, options);
}
