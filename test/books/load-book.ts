import { randomUUID } from 'node:crypto';
import { resources, streamNamed, streams } from '../../resources/index.ts';
import type { ResourceName } from '../../sandbox/api/resources.ts';
import { addConnection } from '../../warehouse/connections/add-connection.ts';
import { inTransaction } from '../../warehouse/transactions/in-transaction.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { lockResource } from '../../warehouse/passes/lock-pass.ts';
import { pruneWarehouse } from '../../warehouse/retention/prune-warehouse.ts';
import { applyTombstones } from '../../warehouse/tombstones/apply-tombstones.ts';
import { begin, land } from '../support/land.ts';
import { rows } from '../support/rows.ts';
import type { SandboxAdmin } from '../support/sandbox-admin.ts';
import { testApiAddress, testKey } from '../support/test-connection.ts';
import type { BookStep, RandomBook } from './arbitrary-book.ts';

/** The calculator's input for a book: the API's own texts, and the times and settings of Daybook. */
export interface CalculatorBook {
  readonly connection_id: string;
  readonly platform: string;
  readonly records: Readonly<Record<string, readonly string[]>>;
  readonly deleted: Readonly<Record<string, number>>;
  readonly subscription_versions: readonly SubscriptionVersion[];
  readonly observed_months: readonly string[];
  readonly unobserved_months: readonly string[];
  /** The last day, in UTC, of each observed month on which all subscriptions were read. */
  readonly observed_until: Readonly<Record<string, string>>;
  /** The day up to which history was pruned: versions replaced before it are gone. Null: never pruned. */
  readonly pruned_until: string | null;
  /** Whether that was the first recorded prune, so that it is unknown what earlier ones removed. */
  readonly is_first_prune: boolean;
  /** IDs, by resource, of records whose deletion waits for approval. */
  readonly waiting: Readonly<Record<string, readonly string[]>>;
  readonly streams: readonly unknown[];
  readonly connection: unknown;
  readonly settings: RandomBook['settings'];
  readonly vendor_names: RandomBook['vendorNames'];
  readonly account_map: RandomBook['accountNames'];
}

interface SubscriptionVersion {
  readonly record_id: string;
  readonly recorded_at: string;
  readonly op: 'upsert' | 'delete';
  readonly payload: string | null;
}

/** Executes the commands of a book in the sandbox, step by step, and lands the result of each step in the warehouse as of its month. */
export async function loadBook(
  { admin, warehouse }: { admin: SandboxAdmin; warehouse: Warehouse },
  { book, today, now }: { book: RandomBook; today: string; now: string },
): Promise<CalculatorBook> {
  const { name, platform } = book;
  await admin.execute({ kind: 'add-connection', name, platform, records: 0 });
  await addConnection(warehouse, testKey, {
    ...{
      connectionId: name,
      apiAddress: testApiAddress,
      token: `token of ${name}`,
      expandPlatformData: false,
    },
  });
  await warehouse.pool.query('update sync.connections set platform = $2 where connection_id = $1', [
    name,
    platform,
  ]);
  const known = new Map<ResourceName, Set<string>>();
  const versions: SubscriptionVersion[] = [];
  let content = new Map<ResourceName, string[]>();
  let recorded = 0;
  for (const step of book.steps) {
    const { commands } = step;
    for (let first = 0; first < commands.length; first += 200)
      await admin.execute(...commands.slice(first, first + 200));
    content = await readContent(admin, name);
    recorded = momentInMonth(step, { today, now, after: recorded });
    const recordedAt = `${new Date(recorded).toISOString().slice(0, 19)}Z`;
    const gone = await landContent(warehouse, { name, content, known });
    versions.push(
      ...buildVersions(content.get('subscriptions') ?? [], gone.get('subscriptions') ?? [], recordedAt),
    );
    await warehouse.pool.query(
      `update history.record_versions set recorded_at = $2
       where connection_id = $1 and recorded_at between now() - interval '10 minutes' and now()`,
      [name, recordedAt],
    );
  }
  const months = Object.entries(book.observed).map(([ago, outcome]) => ({
    month: monthBefore(today, Number(ago)),
    outcome,
    until:
      outcome === 'complete'
        ? lastObservedDay(monthBefore(today, Number(ago)), { last: book.observedUntil?.[Number(ago)], now })
        : null,
  }));
  await recordMonths(warehouse, { name, months });
  await warehouse.pool.query('delete from sync.streams where connection_id = $1 and stream = any($2)', [
    name,
    book.unread ?? [],
  ]);
  if (book.readDaysAgo !== undefined)
    await warehouse.pool.query(
      `update sync.streams set last_success_at = $2::timestamptz - $3 * interval '1 day' where connection_id = $1`,
      [name, now, book.readDaysAgo],
    );
  await markStalled(warehouse, { book, now });
  await markWithdrawn(warehouse, { book, now });
  const firstPrunedUntil = book.prunedUntil === undefined ? null : monthBefore(today, book.prunedUntil);
  const prunedUntil = book.prunedAgainUntil ?? firstPrunedUntil;
  if (firstPrunedUntil !== null) await pruneUntil(warehouse, firstPrunedUntil);
  if (book.prunedAgainUntil !== undefined) await pruneAgainUntil(warehouse, book.prunedAgainUntil);
  const waiting = findWaiting(book, content);
  await askToDelete(warehouse, { name, waiting });
  const of = (wanted: string): string[] =>
    months.filter(({ outcome }) => outcome === wanted).map(({ month }) => month);
  const alive = (resource: ResourceName): number => content.get(resource)?.length ?? 0;
  return {
    connection_id: name,
    platform,
    subscription_versions: versions,
    records: Object.fromEntries(content),
    deleted: Object.fromEntries([...known].map(([resource, ids]) => [resource, ids.size - alive(resource)])),
    observed_months: of('complete'),
    unobserved_months: of('incomplete'),
    observed_until: Object.fromEntries(
      months.flatMap(({ month, until }) => (until === null ? [] : [[month, until]])),
    ),
    pruned_until: prunedUntil,
    is_first_prune: firstPrunedUntil !== null,
    waiting,
    ...(await readSyncState(warehouse, name)),
    settings: book.settings,
    vendor_names: book.vendorNames,
    account_map: book.accountNames,
  };
}

async function readContent(admin: SandboxAdmin, name: string): Promise<Map<ResourceName, string[]>> {
  const content = new Map<ResourceName, string[]>();
  for (const resource of resources) {
    const of = resource.name as ResourceName;
    content.set(of, await admin.content(name, of));
  }
  return content;
}

/** Lands all records as a sync does, and missing ones as deletions. Returns the deletions. */
async function landContent(
  warehouse: Warehouse,
  input: {
    name: string;
    content: ReadonlyMap<ResourceName, string[]>;
    known: Map<ResourceName, Set<string>>;
  },
): Promise<Map<ResourceName, string[]>> {
  const { name: connectionId, content, known } = input;
  const gone = new Map<ResourceName, string[]>();
  for (const { stream, resource } of streams) {
    const texts = content.get(resource.name as ResourceName) ?? [];
    const isRefund = (text: string): boolean => readExpenseType(text) === 'refund';
    const ofStream =
      resource.name !== 'expenses'
        ? texts
        : texts.filter((text) => isRefund(text) === (stream.name === 'refunds'));
    await land(warehouse, { connectionId, stream: stream.name, pages: [ofStream] });
  }
  for (const [resource, texts] of content) {
    const ids = new Set(texts.map(readId));
    const before = known.get(resource) ?? new Set<string>();
    gone.set(
      resource,
      [...before].filter((id) => !ids.has(id)),
    );
    known.set(resource, new Set([...before, ...ids]));
    await applyDeletions(warehouse, { connectionId, resource, ids: gone.get(resource) ?? [] });
  }
  return gone;
}

async function applyDeletions(
  warehouse: Warehouse,
  { connectionId, resource, ids }: { connectionId: string; resource: ResourceName; ids: readonly string[] },
): Promise<void> {
  if (ids.length === 0) return;
  const runId = randomUUID();
  await begin(warehouse, { connectionId, runId });
  await inTransaction(warehouse.pool, async ({ client }) => {
    const { landedAt } = await lockResource(client, { connectionId, resource, runId });
    const version = new Date().toISOString();
    await applyTombstones(client, {
      connectionId,
      runId,
      landedAt,
      source: 'reconcile',
      resource: resourceNamed(resource),
      deletions: ids.map((id) => ({ id, version, deletedAt: null })),
    });
  });
}

function buildVersions(
  texts: readonly string[],
  gone: readonly string[],
  recorded_at: string,
): SubscriptionVersion[] {
  return [
    ...texts.map((payload) => ({ record_id: readId(payload), recorded_at, op: 'upsert' as const, payload })),
    ...gone.map((record_id) => ({ record_id, recorded_at, op: 'delete' as const, payload: null })),
  ];
}

/** Records runs as if they had been made in their months, and pruned since. */
async function recordMonths(
  warehouse: Warehouse,
  {
    name,
    months,
  }: { name: string; months: readonly { month: string; outcome: string; until: string | null }[] },
): Promise<void> {
  await warehouse.pool.query('delete from sync.runs where connection_id = $1', [name]);
  await warehouse.pool.query(
    `insert into history.kept_stream_months (connection_id, stream, month, outcome, complete_until)
     select $1, 'subscriptions', month::date, outcome, until::date
     from jsonb_to_recordset($2) as told (month text, outcome text, until text)`,
    [name, JSON.stringify(months)],
  );
}

/** Makes lists look as if the last syncs had read them to their end without finding what the service has. */
async function markStalled(
  warehouse: Warehouse,
  { book, now }: { book: Pick<RandomBook, 'name' | 'stalled'>; now: string },
): Promise<void> {
  for (const [stream, daysAgo] of Object.entries(book.stalled ?? {}))
    await warehouse.pool.query(
      `update sync.streams set stalled_at = last_success_at, watermark = $3::timestamptz - $4 * interval '1 day'
       where connection_id = $1 and stream = $2`,
      [book.name, stream, now, daysAgo],
    );
}

/** Makes lists look as if they had answered only 404 since. Null: always, so that nothing was read that could have stalled. */
async function markWithdrawn(
  warehouse: Warehouse,
  { book, now }: { book: Pick<RandomBook, 'name' | 'withdrawn'>; now: string },
): Promise<void> {
  for (const [stream, daysAgo] of Object.entries(book.withdrawn ?? {}))
    await warehouse.pool.query(
      `update sync.streams set capability = 'unsupported', last_success_at = $3::timestamptz - $4 * interval '1 day',
         stalled_at = case when $4::int is not null then stalled_at end
       where connection_id = $1 and stream = $2`,
      [book.name, stream, now, daysAgo],
    );
}

/** The IDs of records that still exist. */
function findWaiting(
  { waiting = {} }: RandomBook,
  content: ReadonlyMap<ResourceName, string[]>,
): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    Object.entries(waiting).map(([resource, ids]) => {
      const held = new Set((content.get(resource as ResourceName) ?? []).map(readId));
      return [resource, ids.filter((id) => held.has(id))];
    }),
  );
}

/** Records deletions as if a reconcile had stopped to ask. Its kind of run does not count as reading a month. */
async function askToDelete(
  warehouse: Warehouse,
  { name, waiting }: { name: string; waiting: Readonly<Record<string, readonly string[]>> },
): Promise<void> {
  for (const [resource, ids] of Object.entries(waiting))
    await warehouse.pool.query(
      `with run as (
         insert into sync.runs (run_id, connection_id, kind, status, workflow_id, temporal_run_id, reason, finished_at)
         values ($1 || ' ' || $2, $1, 'replay', 'partial', '', '', 'test', now())
       ), asked as (
         insert into sync.run_streams (run_id, connection_id, stream, status, failure_type)
         values ($1 || ' ' || $2, $1, $2, 'partial', 'ApprovalNeeded')
       )
       insert into sync.discrepancies (connection_id, resource, record_id, kind, status, version, run_id)
       select $1, $2, id, 'extra', 'confirmed', now(), $1 || ' ' || $2 from unnest($3::text[]) as id`,
      [name, resource, ids],
    );
}

/** Prunes all existing connections. */
async function pruneUntil(warehouse: Warehouse, day: string): Promise<void> {
  const keep = { runsMilliseconds: 1e12, historyMilliseconds: Date.now() - Date.parse(day) };
  await pruneWarehouse(warehouse, { keep, dryRun: false });
}

/** Prunes as if an earlier prune had already removed everything up to its day. */
async function pruneAgainUntil(warehouse: Warehouse, day: string): Promise<void> {
  await warehouse.pool.query(
    `insert into sync.settings (name, value) values ('history_pruned_until', '2000-01-01')
     on conflict (name) do update set value = excluded.value`,
  );
  await pruneUntil(warehouse, day);
  await warehouse.pool.query(`delete from sync.settings where name = 'history_pruned_until'`);
}

/** The times at which Daybook read each list, which the service cannot tell. */
async function readSyncState(
  warehouse: Warehouse,
  name: string,
): Promise<{ streams: unknown[]; connection: unknown }> {
  const [connection] = await rows(
    warehouse,
    'select org_id, created_at::text from sync.connections where connection_id = $1',
    [name],
  );
  const facts = await rows(
    warehouse,
    `select stream, resource, capability, watermark::text, last_success_at::text, last_reconcile_at::text,
       stalled_at::text
     from sync.streams where connection_id = $1`,
    [name],
  );
  return { streams: facts, connection };
}

/** A time in the step's UTC month, not in the future, and after the previous step. */
function momentInMonth(
  { monthsAgo, at = 0 }: BookStep,
  { today, now, after }: { today: string; now: string; after: number },
): number {
  const latest = Date.parse(now) - monthsAgo * 60_000;
  const end =
    monthsAgo === 0 ? latest : Math.min(Date.parse(monthBefore(today, monthsAgo - 1)) - 1000, latest);
  const first = Date.parse(monthBefore(today, monthsAgo));
  // If the UTC month has not begun, or has only just, the month's two steps are still seconds apart.
  const begin = Math.min(Math.max(Math.min(first, end - 59_000), after + 1000), end);
  return begin + Math.floor((at * (end - begin)) / 1000) * 1000;
}

/** The day `last` of a month, else its last day; today at the latest. */
function lastObservedDay(month: string, { last, now }: { last: number | undefined; now: string }): string {
  const [year = 0, of = 0] = month.split('-').map(Number);
  const day = new Date(Date.UTC(year, of - (last === undefined ? 0 : 1), last ?? 0))
    .toISOString()
    .slice(0, 10);
  return [day, now.slice(0, 10)].sort()[0] ?? day;
}

function monthBefore(today: string, months: number): string {
  const [year = 0, month = 0] = today.split('-').map(Number);
  return new Date(Date.UTC(year, month - 1 - months, 1)).toISOString().slice(0, 10);
}

function resourceNamed(name: ResourceName): (typeof resources)[number] {
  const found = resources.find((resource) => resource.name === name);
  return found ?? streamNamed(name).resource;
}

function readId(text: string): string {
  return String((JSON.parse(text) as { id: unknown }).id);
}

function readExpenseType(text: string): unknown {
  return (JSON.parse(text) as { expense_type?: unknown }).expense_type;
}
