import { expect, test } from 'vitest';
import { streamNamed } from '../../resources/index.ts';
import { sourceRecord } from '../../resources/source-record.ts';
import { eraseRecord } from '../../warehouse/erase/erase-record.ts';
import { readHeld } from '../../warehouse/landing/read-held.ts';
import { rebuildBatch } from '../../warehouse/history/rebuild-batch.ts';
import { landFetched } from '../../warehouse/landing/land-fetched.ts';
import type { LandedCounts } from '../../warehouse/landing/land-records.ts';
import { backfillPlan, type BackfillPlan } from '../../warehouse/passes/backfill-plan.ts';
import { nextWindow } from '../../warehouse/passes/backfill-windows.ts';
import { forgetWatermark } from '../../warehouse/passes/forget-watermark.ts';
import { noteFailing } from '../../warehouse/passes/note-failing.ts';
import { noteMissing } from '../../warehouse/passes/note-missing.ts';
import { planBackfill } from '../../warehouse/passes/plan-backfill.ts';
import { readFromFurtherBack } from '../../warehouse/passes/read-from-further-back.ts';
import { restartPass } from '../../warehouse/passes/restart-pass.ts';
import { takePass } from '../../warehouse/passes/take-pass.ts';
import { beginAgainIfStoodStill } from '../../warehouse/reconcile/begin-again.ts';
import {
  confirmAbsent,
  confirmBySecondListing,
  listAgain,
  readUnconfirmed,
} from '../../warehouse/reconcile/confirm-absent.ts';
import { deleteAbsent } from '../../warehouse/reconcile/delete-absent.ts';
import { noteFetchFailing } from '../../warehouse/reconcile/fetches-failing.ts';
import { findAbsent } from '../../warehouse/reconcile/find-absent.ts';
import { finishResource, readFinished } from '../../warehouse/reconcile/finish-resource.ts';
import { removeOrphans } from '../../warehouse/reconcile/remove-orphans.ts';
import type { RunScope } from '../../warehouse/record-scope.ts';
import { finishRun } from '../../warehouse/runs/finish-run.ts';
import { holdsDeletions } from '../../warehouse/tombstones/holds-deletions.ts';
import { prepareEvents } from '../../warehouse/tombstones/prepared-events.ts';
import { buryAnnounced } from '../../warehouse/webhooks/bury-announced.ts';
import { bill, billCreditMemo, type Fields } from '../support/finance-records.ts';
import { buildDeletionEvent, landEvents } from '../support/land-events.ts';
import { landListing, type Listing } from '../support/land-listing.ts';
import { begin, land, landRecords, openPass } from '../support/land.ts';
import { rows, type Row } from '../support/rows.ts';
import { sourceRecords } from '../support/source-records.ts';
import { some } from '../support/proof-test.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

/** One resource of one connection, with records of the same ids as all others. */
interface Copied {
  readonly connectionId: string;
  readonly stream: 'bills' | 'bill_credit_memos';
  /** Whether it has further records that are wrong, besides those of the others. */
  readonly troubled: boolean;
  /** A new run does each step, the same one for all resources of a connection. */
  runId: string;
  listing?: Listing;
}

/** The tables whose rows belong to a resource, or to a stream of it. */
const { rows: byResource } = await warehouse.pool.query<{ table: string; column: string }>(
  `select format('%I.%I', table_schema, table_name) as table, min(column_name) filter (where column_name in ('resource', 'stream')) as column
   from information_schema.columns join information_schema.tables using (table_schema, table_name)
   where table_schema in ('sync', 'history') and table_type = 'BASE TABLE'
   group by table_schema, table_name
   having bool_or(column_name = 'connection_id') and bool_or(column_name in ('resource', 'stream'))`,
);

/** The steps for each, one after the other, from a first sync to an erasure. Each returns what it found. */
const steps: Record<string, (copied: Copied) => Promise<unknown>> = {
  'a first sync': (copied) => {
    const { troubled } = copied;
    const records = ['a', 'b', 'c', 'gone', 'undecided', 'erased', 'told'].map((id) => record(copied, id));
    const more = [record(copied, 'gone-too'), record(copied, 'late'), '{}', spoiled(copied, 'spoiled')];
    return landCounted(copied, [...records, ...(troubled ? more : [])]);
  },
  'a deletion that an event tells': async (copied) => {
    const told = copied.troubled ? ['told', 'late'] : ['told'];
    await landEvents(warehouse, {
      ...copied,
      events: told.map((id) => deletionIn(copied, id)),
    });
  },
  'a look for what events tell': async (copied) => {
    const held = ['told', 'late', 'b'].map(async (id) => {
      const events = prepareEvents(await sourceRecords('events', [deletionIn(copied, id)]));
      return holdsDeletions(warehouse, copied.connectionId, events);
    });
    return Promise.all(held);
  },
  'a record that a webhook brought': (copied) =>
    landFetched(warehouse, {
      ...scope(copied),
      record: sourceRecord(record(copied, 'b', { last_synced_at: '"2024-03-01T00:00:00Z"', memo: '"2"' })),
      token: null,
      servedAt: null,
    }),
  'a sync that does not see it, and hears that it is gone': async (copied) => {
    await land(warehouse, { ...copied, pages: [[record(copied, 'a')]] });
    await buryAnnounced(warehouse, { ...scope(copied), ...gone('b', '2024-03-02T00:00:00Z') });
    const outcomes = [{ stream: copied.stream, state: 'done' as const }];
    const { status } = await finishRun(warehouse, { runId: copied.runId, outcomes, cancelled: false });
    return status;
  },
  'an older form that a fetch brought': async (copied) => {
    const { pass } = await openPass(warehouse, copied);
    const older = record(copied, copied.troubled ? 'told' : 'a', {
      last_synced_at: '"2023-01-01T00:00:00Z"',
    });
    const fetched = { record: sourceRecord(older), token: pass.token, servedAt: instant };
    await landFetched(warehouse, { ...scope(copied), ...fetched });
    const [wanted] = await rows(warehouse, wantedSql, [copied.connectionId, copied.stream]);
    return wanted;
  },
  'a plan of a backfill': (copied) => planBackfill(warehouse, { ...copied, plan: planOf(copied) }),
  'its first window': async (copied) => {
    const of = { ...copied, plan: planOf(copied).name };
    const window = await nextWindow(warehouse, of);
    const { pass } = await openPass(warehouse, copied);
    const part = { ...pass, kind: 'backfill' as const, part: window!.part };
    await takePass(warehouse, { pass: part, ...streamNamed(copied.stream), lookbackMilliseconds: 0 });
    await landRecords(warehouse, { pass: part, records: [record(copied, 'a')] });
    return [window, await nextWindow(warehouse, of)].map((found) => found?.left);
  },
  'a sync that sees it': (copied) => {
    const seen = record(copied, 'b', { last_synced_at: '"2024-04-01T00:00:00Z"', memo: '"3"' });
    return landCounted(copied, [seen]);
  },
  'a form that cannot land': (copied) => {
    const newer = { last_synced_at: '"2024-06-01T00:00:00Z"' };
    return landCounted(copied, [spoiled(copied, copied.troubled ? 'a' : 'b', newer)]);
  },
  'a list that answers 404': async (copied) => {
    const { pass } = await openPass(warehouse, copied);
    await noteMissing(warehouse, { pass, requests: 1 });
  },
  'a watermark that is forgotten': async (copied) => {
    const { pass } = await openPass(warehouse, copied);
    const answer = { resource: streamNamed(copied.stream).resource, servedAt: instant, heardAt: null };
    await readFromFurtherBack(warehouse, { pass, ...answer, milliseconds: 60_000 });
    await noteFailing(warehouse, { pass, requests: 1 });
    await restartPass(warehouse, { pass, ...answer, lookbackMilliseconds: 0, why: 'given up' });
    if (copied.troubled) await forgetWatermark(warehouse, { pass, ...answer });
  },
  'a listing': async (copied) => {
    const records = [record(copied, 'a'), record(copied, 'b'), record(copied, 'c', { memo: '"3"' })];
    if (copied.troubled) records.push('{}');
    copied.listing = await landListing(warehouse, {
      ...copied,
      runId: `reconcile of ${copied.connectionId}`,
      records,
    });
    return beginAgainIfStoodStill(warehouse, copied.listing);
  },
  'what it does not show': (copied) => findAbsent(warehouse, copied.listing!),
  'what a fetch decides about': (copied) => readUnconfirmed(warehouse, copied.listing!, 100),
  'a fetch that fails': (copied) =>
    noteFetchFailing(warehouse, copied.listing!, 'undecided').then(() => null),
  'a fetch that finds nothing': (copied) =>
    confirmAbsent(warehouse, copied.listing!, { recordId: 'gone', goneBy: null, metAt: null }),
  'the question for a second listing': (copied) => listAgain(warehouse, copied.listing!),
  'a second listing': async (copied) => {
    const { pass } = copied.listing!;
    const shown = ['a', 'b', 'c', ...(copied.troubled ? ['undecided'] : [])].map((id) => record(copied, id));
    await landRecords(warehouse, { pass, records: shown });
    await confirmBySecondListing(warehouse, { ...copied.listing!, unfetchable: true });
  },
  'the deletion of what is gone': (copied) =>
    deleteAbsent(warehouse, { ...copied.listing!, limit: copied.troubled ? 0 : 1 }),
  'the end of a reconcile': async (copied) => {
    await removeOrphans(warehouse, copied.listing!);
    const absent = { waiting: 0, held: 7, before: 0 };
    const finished = await finishResource(warehouse, { ...copied.listing!, ...absent });
    return [finished, await readFinished(warehouse, copied.listing!)];
  },
  'a deletion that a webhook tells': (copied) =>
    buryAnnounced(warehouse, { ...scope(copied), ...gone('c', '2024-05-01T00:00:00Z') }),
  'a rebuild': (copied) =>
    rebuildBatch(warehouse, {
      ...scope(copied),
      after: '',
    }),
  'an erasure': async (copied) => {
    const erased = { ...scope(copied), id: 'erased' };
    return eraseRecord(warehouse, {
      ...erased,
      goneAt: instant,
      heldBefore: await readHeld(warehouse.pool, erased),
    });
  },
};

/** Expected results of some steps, which show that they are not only equal but right. */
const findings = (troubled: boolean): Record<string, unknown> => ({
  'a look for what events tell': [true, troubled, false],
  'a sync that does not see it, and hears that it is gone': 'succeeded',
  'an older form that a fetch brought': { wanted: troubled },
  'its first window': [2, 1],
  'what it does not show': troubled
    ? { absent: 5, young: 5, ahead: 2, pages: 1, nameless: true }
    : { absent: 3, young: 3, ahead: 1, pages: 1, nameless: false },
});

const wantedSql = `select reconcile_wanted_at is not null as wanted from sync.streams where connection_id = $1 and stream = $2`;

const instant = new Date('2026-01-01T00:00:00Z');

test.each(
  some(
    [
      ['a troubled one that goes before', { troubled: false, last: true }],
      ['one without troubles that comes after', { troubled: true, last: false }],
      ['a troubled one that comes after', { troubled: false, last: false }],
      ['one without troubles that goes before', { troubled: true, last: true }],
    ] as const,
    2,
  ),
)('a resource of a connection is not affected by %s', async (_, { troubled, last }) => {
  const alone = await copy({ troubled });
  const expected = await everyStep([alone], alone);
  expect(Object.fromEntries(expected)).toMatchObject(findings(troubled));
  const self = await copy({ troubled });
  const { connectionId } = self;
  const others = [
    await copy({ troubled: !troubled }),
    await copy({ connectionId, stream: 'bill_credit_memos', troubled: !troubled }),
  ];
  expect(await everyStep(last ? [...others, self] : [self, ...others], self)).toEqual(expected);
});

/**
 * Does each step for all copies, so that each is in the state for the step when it is another's turn. Returns the results for one copy, and
 * its rows.
 */
async function everyStep(all: readonly Copied[], self: Copied): Promise<[string, unknown][]> {
  const found: [string, unknown][] = [];
  for (const [name, step] of Object.entries(steps)) {
    for (const copied of all) {
      copied.runId = `${name} of ${copied.connectionId}`;
      await begin(warehouse, copied);
    }
    for (const copied of all) {
      const others = all.filter((one) => one !== copied);
      const before = await Promise.all(others.map(rowsOf));
      const answer = await step(copied);
      const after = await Promise.all(others.map(rowsOf));
      expect(after, `${name}, of ${copied.connectionId}`).toEqual(before);
      if (copied === self) found.push([name, answer]);
    }
  }
  return [...found, ['afterwards', await stateOf(self)]];
}

/** Makes a copy in a new connection, unless one is given. */
async function copy(given: Partial<Copied> & Pick<Copied, 'troubled'>): Promise<Copied> {
  const connectionId = given.connectionId ?? (await addTestConnection(warehouse));
  return { stream: 'bills', runId: '', ...given, connectionId };
}

function scope({ connectionId, stream, runId }: Copied): RunScope {
  return { connectionId, resource: streamNamed(stream).resource, runId };
}

async function landCounted(copied: Copied, records: readonly string[]): Promise<LandedCounts[]> {
  const pages = await land(warehouse, { ...copied, pages: [records] });
  return pages.map(({ inserted, updated, unchanged, suppressed }) => ({
    inserted,
    updated,
    unchanged,
    suppressed,
  }));
}

function record({ stream }: Copied, id: string, fields?: Fields): string {
  return stream === 'bills' ? bill(id, fields) : billCreditMemo(id, fields);
}

function spoiled(copied: Copied, id: string, fields?: Fields): string {
  return record(copied, id, { ...fields, line_items: '[{"total_amount":"much"}]' });
}

function planOf({ stream }: Copied): BackfillPlan {
  const time = { from: '2024-01-01', to: '2024-01-03', windowMilliseconds: 86_400_000 };
  return backfillPlan({ ...time, resources: [stream] });
}

function gone(id: string, version: string): { id: string; version: string; deletedAt: string } {
  return { id, version, deletedAt: version };
}

function deletionIn({ stream }: Copied, id: string): string {
  const resource = stream === 'bills' ? '"BILL"' : '"BILL_CREDIT_MEMO"';
  return buildDeletionEvent(id, '2024-02-01T00:00:00Z', { resource });
}

/** All rows of the copy. */
async function rowsOf({ connectionId, stream }: Copied): Promise<Row[]> {
  const { resource } = streamNamed(stream);
  const own = [resource.name, ...resource.children.map(({ table }) => table)];
  const selects = [
    ...own.map((table) => selectOf(`finance.${table}`)),
    ...byResource.map(({ table, column }) => `${selectOf(table)} and ${column} = any($2)`),
  ];
  const statement = `${selects.join(' union all ')} order by "table", held`;
  return rows(warehouse, statement, [connectionId, [stream, resource.name]]);
}

function selectOf(table: string): string {
  return `select '${table}' as "table", to_jsonb(found)::text as held from ${table} found where connection_id = $1`;
}

/** The state of the copy that must be the same each time. */
async function stateOf({ connectionId, stream }: Copied): Promise<Row[][]> {
  const { resource } = streamNamed(stream);
  const statements = [
    `select id, memo, last_synced_at from finance.${resource.name} where connection_id = $1 order by id`,
    `select record_id, source from sync.tombstones where connection_id = $1 and resource = $2 order by record_id`,
    `select op, record_id from history.record_versions where connection_id = $1 and resource = $2 order by record_id, recorded_at`,
    `select record_id, kind, status, closed_why from sync.discrepancies where connection_id = $1 and resource = $2 order by record_id, kind, status, closed_why`,
    `select record_id, status, closed_why from sync.quarantine where connection_id = $1 and resource = $2 order by record_id`,
    `select capability, watermark is null as unread, stalled_at is not null as stalled, ahead_record_id, reconcile_wanted_at is not null as wanted
     from sync.streams where connection_id = $1 and resource = $2`,
    `select kind, part, pages, completed_at is not null as complete from sync.passes where connection_id = $1 and stream = $2 order by kind, part`,
    `select s.status, failure_type, inserted, updated, deleted, quarantined from sync.run_streams s join sync.runs r using (run_id)
     where r.connection_id = $1 and s.stream = $2 order by r.started_at`,
  ];
  return Promise.all(
    statements.map((statement) =>
      rows(warehouse, statement, statement.includes('$2') ? [connectionId, resource.name] : [connectionId]),
    ),
  );
}
