import { Readable } from 'node:stream';
import pg, { type ClientBase } from 'pg';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { withBuildLock, type RequireLock } from '../../warehouse/marts/build-lock.ts';
import { LockLost } from '../../warehouse/transactions/hold-lock.ts';
import { dropCopies, dropHiddenMarts } from '../../warehouse/marts/drop-hidden-marts.ts';
import { fillMart } from '../../warehouse/marts/fill-mart.ts';
import { noteMarts } from '../../warehouse/marts/note-marts.ts';
import { emptyCopies, hiddenSchema, prepareSchemas } from '../../warehouse/marts/prepare-schemas.ts';
import { publishMarts } from '../../warehouse/marts/publish-marts.ts';
import type { LockWait } from '../../warehouse/transactions/taking-locks.ts';
import { loseLock } from '../support/lose-lock.ts';
import { bypassPooler } from '../support/bypass-pooler.ts';
import { row, rows } from '../support/rows.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse, url, adminUrl } = await createTestDatabase();

let builds = 0;
beforeEach(async () => {
  await build();
  await build();
  await rows(warehouse, 'create or replace view mine as select build from marts.bills');
});

/** A step waits for a reader of what it replaces: the tables of the build before the shown one, or the shown views. */
test.each<
  [string, { reads: 'hidden' | 'shown'; step: (client: ClientBase, wait: LockWait) => Promise<unknown> }]
>([
  ['empties the schemas of builds', { reads: 'hidden', step: prepareSchemas }],
  ['drops earlier marts', { reads: 'hidden', step: dropHiddenMarts }],
  [
    'shows its marts',
    {
      reads: 'shown',
      async step(client, waiting) {
        const schema = await prepareSchemas(client);
        await fill(client);
        await publishMarts(client, { schema }, waiting);
      },
    },
  ],
])(
  'a process that %s, loses its lock while it waits for a reader, and goes on after the next build, changes nothing',
  async (_, { reads, step }) => {
    const hidden = await hiddenSchema(warehouse.pool);
    const reader = await hold(reads === 'hidden' ? `${hidden}.bills` : 'marts.bills');
    const stalled = whenWaiting((waiting) =>
      alone((client, requireLock) => step(client, { ...waiting, requireLock })),
    );
    await stalled.isWaiting;
    await loseLock(warehouse);
    const next = whenWaiting(build);
    await next.isWaiting;
    await reader.end();
    await next.done;
    await expect(stalled.done).rejects.toThrow(whyEnded);
    expect(await row(warehouse, 'select build from marts.bills')).toEqual({ build: builds });
    expect(await row(warehouse, 'select build from mine')).toEqual({ build: builds });
  },
  60_000,
);

// A pooler lends sessions for one transaction. Between two there is none that the next build could end.
test('a step of a build that has lost its lock is refused in any session', async () => {
  const table = { name: 'items', comment: '', columns: [], indexes: [] };
  const note = { runId: 'none', target: 'postgres', asOfDate: '2026-01-01', snapshotId: null } as const;
  await withBuildLock({ databaseUrl: url, target: 'postgres' }, async ({ inSession, requireLock }) => {
    await inSession(async (client) => {
      const schema = await prepareSchemas(client, { requireLock });
      await fill(client);
      await loseLock(warehouse);
      const steps = [
        () => fillMart(client, schema, { table, rows: Readable.from([]), requireLock }),
        () => publishMarts(client, { schema }, { requireLock }),
        () => emptyCopies(client, { requireLock }),
        () => noteMarts(warehouse, { ...note, marts: 1, outcome: 'Built.' }, requireLock),
        () => prepareSchemas(client, { requireLock }),
        () => dropHiddenMarts(client, { requireLock }),
        () => dropCopies(client, { requireLock }),
      ];
      for (const step of steps) {
        await expect(step()).rejects.toThrow(LockLost);
        await client.query('rollback');
      }
      expect(await row(warehouse, `select to_regclass('${schema}.bills') is not null as left`)).toEqual({
        left: true,
      });
    });
  });
  expect(await row(warehouse, 'select build from mine')).toEqual({ build: builds - 1 });
});

/** The next build has ended its session. A pooler gives it another one, in which it asks for its lock. */
const whyEnded = bypassPooler(url) === url ? 'not queryable' : 'was lost';

function alone<Result>(
  step: (client: ClientBase, requireLock: RequireLock) => Promise<Result>,
): Promise<Result> {
  return withBuildLock({ databaseUrl: url, target: 'postgres' }, ({ inSession, requireLock }) =>
    inSession((client) => step(client, requireLock)),
  );
}

/** Builds and shows marts. */
function build(waiting: LockWait = {}): Promise<unknown> {
  return alone(async (client) => {
    const schema = await prepareSchemas(client, waiting);
    await fill(client);
    return publishMarts(client, { schema }, waiting);
  });
}

/** Makes the table of a build in the hidden schema. */
async function fill(client: ClientBase): Promise<void> {
  const schema = await hiddenSchema(client);
  builds += 1;
  await client.query(
    `drop table if exists ${schema}.bills; create table ${schema}.bills as select ${builds} as build`,
  );
}

/** Reads a table or view in a transaction that stays open. */
async function hold(name: string): Promise<pg.Client> {
  const reader = new pg.Client(adminUrl);
  await reader.connect();
  onTestFinished(() => reader.end().catch(() => undefined));
  await reader.query(`begin; select from ${name}`);
  return reader;
}

/** Starts work that is going to wait for readers. */
function whenWaiting(work: (waiting: LockWait) => Promise<unknown>): {
  isWaiting: Promise<unknown>;
  done: Promise<unknown>;
} {
  let tell: (text: string) => void = () => undefined;
  const told = new Promise<string>((resolve) => {
    tell = resolve;
  });
  const done = work({ onStep: tell });
  done.catch(() => undefined);
  return { isWaiting: Promise.race([told, done]), done };
}
