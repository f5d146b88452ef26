import { afterEach, expect, test } from 'vitest';
import { createInstallation } from '../support/installation.ts';
import { proofTest } from '../support/proof-test.ts';
import { sync } from '../support/sync.ts';

const installation = await createInstallation();
const { admin } = installation;
await installation.startWorker();

afterEach(async () => {
  await admin.clearFaults();
  await admin.configure({});
});

test('records that change and move while the pages are read land in their final state', async () => {
  const connection = await installation.connect({ records: 2_000 });
  await admin.configure({ maximumLimit: 100 });
  const bills = await readIds(connection);
  const change = (id: string | undefined, memo: string) => ({
    kind: 'change' as const,
    connection,
    resource: 'bills' as const,
    id: id ?? '',
    patch: JSON.stringify({ memo }),
    remove: [],
  });
  for (const after of [1, 2, 3]) {
    await admin.addFault({
      match: { connection, path: '/accounting/bills' },
      after,
      times: 1,
      fault: {
        kind: 'mutate',
        commands: [
          change(bills[after], 'changed behind the cursor'),
          change(bills.at(-after), 'changed ahead of the cursor'),
          change(bills[after * 100], 'the very next record'),
        ],
      },
    });
  }
  expect((await sync(installation, connection)).run.status).toBe('succeeded');
  expect((await installation.compare(connection)).differences).toEqual([]);
});

test('1,200 records with the same last_synced_at all land, and no row changes when all are touched again', async () => {
  const connection = await installation.connect({ records: 3_000 });
  await admin.execute({ kind: 'touch', connection, resource: 'bills' });
  expect((await readIds(connection)).length).toBeGreaterThan(1_199);
  await admin.configure({ maximumLimit: 50 });
  await sync(installation, connection, { resources: ['bills'] });
  expect((await installation.compare(connection, { tables: ['bills'] })).differences).toEqual([]);
  await admin.execute({ kind: 'touch', connection, resource: 'bills' });
  const { run } = await sync(installation, connection, { resources: ['bills'] });
  expect(run.streams[0]).toMatchObject({ inserted: 0, updated: 0 });
  expect((await installation.compare(connection, { tables: ['bills'] })).differences).toEqual([]);
});

test('a pass whose cursor the service refuses midway starts again, and leaves an exact copy', async () => {
  const connection = await installation.connect({ records: 600 });
  await admin.configure({ maximumLimit: 20 });
  await admin.addFault({
    match: { connection, query: 'cursor=' },
    after: 3,
    times: 2,
    fault: { kind: 'status', status: 400, code: 'INVALID_CURSOR' },
  });
  expect((await sync(installation, connection)).run.status).toBe('succeeded');
  expect((await installation.compare(connection)).differences).toEqual([]);
});

proofTest('a cursor that breaks because its record moved costs no record', async () => {
  const connection = await installation.connect({ records: 600 });
  await admin.configure({ maximumLimit: 20, cursor: 'row' });
  const bills = await readIds(connection);
  await admin.addFault({
    match: { connection, path: '/accounting/bills' },
    after: 2,
    times: 1,
    fault: {
      kind: 'mutate',
      commands: bills.slice(40, 60).map((id) => ({
        kind: 'change' as const,
        connection,
        resource: 'bills' as const,
        id,
        patch: '{"memo":"moved"}',
        remove: [],
      })),
    },
  });
  expect((await sync(installation, connection)).run.status).toBe('succeeded');
  expect((await installation.compare(connection)).differences).toEqual([]);
});

test.for([
  ['refuses the limit asked for', { aboveMaximum: 'refuse', maximumLimit: 50 }],
  ['ends lists without a next_cursor', { lastCursor: 'absent' }],
  ['ends lists with an empty next_cursor', { lastCursor: 'empty' }],
] as const)('a service that %s is read to the end', async ([, settings]) => {
  const connection = await installation.connect();
  await admin.configure(settings);
  expect((await sync(installation, connection)).run.status).toBe('succeeded');
  expect((await installation.compare(connection)).differences).toEqual([]);
});

proofTest('short and empty pages before the end do not end a list', async () => {
  const connection = await installation.connect();
  for (const [after, records] of [0, 7, 0].entries())
    await admin.addFault({
      match: { connection, path: '/accounting/bills' },
      after,
      times: 1,
      fault: { kind: 'short-page', records },
    });
  expect((await sync(installation, connection)).run.status).toBe('succeeded');
  expect((await installation.compare(connection)).differences).toEqual([]);
});

/** The ids of the bills, in the order of the pages. */
async function readIds(connection: string): Promise<string[]> {
  const lines = await admin.content(connection, 'bills');
  return lines.map((line) => (JSON.parse(line) as { id: string }).id);
}
