import { platformNamed } from '../../sandbox/api/platforms.ts';
import { compareWithSource } from '../support/compare-with-source.ts';
import { parseExactly } from '../support/exact-json.ts';
import { canonicalJson, isObject } from '../support/source-value.ts';
import type { History } from './history.ts';
import { judgeQuarantine } from './judge-quarantine.ts';
import type { Company } from './company.ts';
import type { Surroundings } from './surroundings.ts';
import { nameOf, nameOnLine, streamOf, type TrueRecord } from './true-record.ts';
import { BrokenPromise } from './watch.ts';

type End = Pick<Company, 'stage' | 'history' | 'connection' | 'source' | 'surroundings'>;

/**
 * Judges, after a sync without troubles, that everything that a sync can know of matches the source. What a sync cannot know is marked at
 * the record: see `TrueRecord.hidden` and `behind`. `healed` streams were read from their beginning. `continued` streams were read from
 * where another run had stopped, so that records listed late, before that point, belong to the next sync.
 */
export async function judgeSync(
  end: End,
  { healed, continued }: { healed: ReadonlySet<string>; continued: ReadonlySet<string> },
): Promise<void> {
  const { mostEverBehind } = end.surroundings;
  const tombstones = await tombstonesOf(end);
  const isHidden = (record: TrueRecord): boolean =>
    record.hidden ||
    isBuried(record, tombstones.get(nameOf(record)), end.surroundings) ||
    (record.behind && !(record.live && healed.has(streamOf(record)))) ||
    (mostEverBehind > 0 && record.resource === 'subscriptions') ||
    (record.backdatedBy > 0 && continued.has(streamOf(record))) ||
    // A reconcile identified the nameless record by its content and took it for gone; only the next reconcile sees it again.
    (record.nameless && end.surroundings.laggedTooFar(record));
  const hidden = [...end.source.records.values()].filter(isHidden);
  const isExcused = (difference: string): boolean => hidden.some(({ id }) => isAbout(difference, id));
  const differences = await differencesOf(end);
  const [first] = differences.filter((difference) => !isExcused(difference));
  if (first !== undefined) throw new BrokenPromise(`After a sync: ${first}.`);
  const shownLate = mostEverBehind > 0 ? await metByReconciles(end) : new Set<string>();
  // A reconcile with a lagging list showed a bad form from before a known deletion. The next reconcile closes the entry.
  const isShownLate = (record: TrueRecord): boolean =>
    !record.live && tombstones.has(nameOf(record)) && shownLate.has(nameOf(record));
  await judgeQuarantine(end, (record) => !isHidden(record) && !isShownLate(record));
}

/** Open entries of quarantine that a reconcile met last. */
async function metByReconciles({
  stage,
  connection,
}: Pick<End, 'stage' | 'connection'>): Promise<ReadonlySet<string>> {
  const { rows } = await stage.watcher.query<{ name: string }>(
    `select q.resource || '/' || q.record_id as name from sync.quarantine q join sync.runs r using (run_id)
     where q.connection_id = $1 and q.status = 'open' and r.kind = 'reconcile'`,
    [connection],
  );
  return new Set(rows.map(({ name }) => name));
}

/** The versions of the tombstones, by record name. */
export async function tombstonesOf({
  stage,
  connection,
}: Pick<End, 'stage' | 'connection'>): Promise<ReadonlyMap<string, number>> {
  const { rows } = await stage.watcher.query<{ name: string; version: number }>(
    `select resource || '/' || record_id as name, (extract(epoch from version) * 1000)::float8 as version
     from sync.tombstones where connection_id = $1`,
    [connection],
  );
  return new Map(rows.map(({ name, version }) => [name, version]));
}

/**
 * Whether only a reconcile can see the record. The service tells its time in whole seconds, so that a record may live again in the second
 * of its tombstone. If lists lagged further than allowed, a tombstone may belong to a record that lived.
 */
export function isBuried(
  record: TrueRecord,
  tombstone: number | undefined,
  surroundings: Surroundings,
): boolean {
  if (tombstone === undefined || record.version > tombstone) return false;
  return record.version > tombstone - 1_000 || surroundings.laggedTooFar(record);
}

/** Judges, after a reconcile without troubles, that everything matches the source or is provably deleted. */
export async function judgeReconcile(end: End): Promise<void> {
  await judgeTables(end, 'After a reconcile');
  await judgeQuarantine(end, () => true);
  await judgeTombstones(end);
  await judgeHistory(end);
  await judgeLeftovers(end);
}

/** Judges that every field of `finance` matches the source. */
export async function judgeTables(end: End, when: string): Promise<void> {
  const [first] = await differencesOf(end);
  if (first !== undefined) throw new BrokenPromise(`${when}: ${first}.`);
}

/** Whether a difference names exactly this record, not one with a longer id. */
function isAbout(difference: string, id: string): boolean {
  const place = difference.indexOf(id);
  const around = [difference[place - 1], difference[place + id.length]];
  return place >= 0 && around.every((letter) => letter === undefined || !/[\w-]/.test(letter));
}

/** Quarantine is judged record by record: see `judgeQuarantine`. */
async function differencesOf({ stage, connection, source }: End): Promise<readonly string[]> {
  const { databaseUrl, admin } = stage;
  const { differences } = await compareWithSource({
    databaseUrl,
    admin,
    connectionId: connection,
    tables: source.listed,
  });
  const nameless = [...source.records.values()].filter((record) => record.nameless);
  return differences.filter(
    (difference) =>
      !/^\w+: (not )?in quarantine/.test(difference) &&
      !nameless.some(({ sourceId }) => isAbout(difference, sourceId)),
  );
}

async function judgeTombstones({ stage, connection, source }: End): Promise<void> {
  const namesOf = async (sql: string): Promise<Set<string>> => {
    const { rows } = await stage.watcher.query<{ name: string }>(sql, [connection]);
    return new Set(rows.map(({ name }) => name));
  };
  const seen = await namesOf(
    `select distinct resource || '/' || record_id as name from history.record_versions where connection_id = $1`,
  );
  const deleted = await namesOf(
    `select resource || '/' || id as name from finance.deleted_records where connection_id = $1`,
  );
  for (const [name, { live, spoiled }] of source.records) {
    if (!live && seen.has(name) && !deleted.has(name))
      throw new BrokenPromise(`${name} is gone, and nothing proves it.`);
    if (live && !spoiled && deleted.has(name))
      throw new BrokenPromise(`${name} lives, and counts as deleted.`);
  }
}

/** Judges that no two consecutive contents are equal, that each record ends as finance has it, and that finance has what the source says. */
async function judgeHistory({ stage, connection, source, surroundings }: End): Promise<void> {
  const { rows: repeated } = await stage.watcher.query<{ name: string }>(repeatedSql, [connection]);
  if (repeated[0] !== undefined)
    throw new BrokenPromise(`History has the same twice in a row: ${repeated[0].name}.`);
  // Includes entries recorded while the clock was ahead.
  const now = surroundings.databaseJumps.length > 0 ? `'infinity'` : 'sim.clock_timestamp()';
  for (const resource of source.listed) {
    const { rows } = await stage.watcher.query<{ record_id: string; payload: string }>(
      `select record_id, payload::text as payload from history.as_of($1, ${now}) where connection_id = $2`,
      [resource, connection],
    );
    const known = new Map(rows.map(({ record_id, payload }) => [record_id, contentOf(payload)]));
    const lines = await stage.admin.content(connection, resource);
    for (const line of lines) {
      const name = nameOnLine(resource, line);
      const record = name === undefined ? undefined : source.records.get(name);
      if (record === undefined || record.spoiled) continue;
      if (known.get(record.id) !== contentOf(line))
        throw new BrokenPromise(`History does not end with what the source has of ${name ?? ''}.`);
    }
    for (const id of known.keys()) {
      if (source.records.get(`${resource}/${id}`)?.live !== true)
        throw new BrokenPromise(`History does not know that ${resource}/${id} is gone.`);
    }
  }
}

function contentOf(text: string): string {
  const record = parseExactly(text);
  if (!isObject(record)) return text;
  const { last_synced_at: version, platform_data: platformData, ...content } = record;
  return canonicalJson(version === platformData ? record : content);
}

const repeatedSql = `
  select resource || '/' || record_id as name
  from (
    select resource, record_id, op, (payload - 'last_synced_at')::text as content,
      lag(op) over versions as op_before,
      lag((payload - 'last_synced_at')::text) over versions as content_before
    from history.record_versions
    where connection_id = $1
    window versions as (partition by resource, record_id order by recorded_at)
  ) version
  where op = op_before and (op = 'delete' or content = content_before)`;

async function judgeLeftovers({ stage, connection, history, source }: End): Promise<void> {
  const { rows } = await stage.watcher.query<{ leftover: string }>(leftoverSql(history), [connection]);
  if (rows[0] !== undefined) throw new BrokenPromise(`Something is left: ${rows[0].leftover}.`);
  const spoiled = [...source.records.values()].some((record) => record.spoiled && record.live);
  const platform = platformNamed(history.platform);
  if (spoiled || !history.resources.some((resource) => platform.lists.includes(resource))) return;
  const { rows: last } = await stage.watcher.query<{ kind: string; status: string; failure: string | null }>(
    `select distinct on (kind) kind, status, failure from sync.runs
     where connection_id = $1 and kind in ('sync', 'reconcile') order by kind, run_id desc`,
    [connection],
  );
  // A record that a backfill met and that vanished unnoticed looks to a sync like a list that shows too little. So does a record whose
  // version went back, until a reconcile.
  const vanished = [...source.records.values()].some(
    ({ live, announcedAt, era }) => (!live && announcedAt === null) || era > 0,
  );
  for (const { kind, status, failure } of last) {
    if (kind === 'sync' && vanished && failure?.startsWith('The service has newer records') === true)
      continue;
    if (status !== 'succeeded')
      throw new BrokenPromise(`The last ${kind}, with no trouble left, is ${status}: ${String(failure)}`);
  }
}

/** Selects child rows without their record, webhooks that wait forever, and runs that never end. */
function leftoverSql({ resources }: History): string {
  const children = childrenOf.filter(({ parent }) => resources.some((resource) => resource === parent));
  return [
    ...children.map(
      ({ parent, table, key }) =>
        `select '${table} of ' || ${key} as leftover from finance.${table} c where connection_id = $1
           and not exists (select from finance.${parent} p where p.connection_id = $1 and p.id = c.${key})`,
    ),
    `select 'a webhook that waits: ' || type || ' ' || coalesce(outcome, '') from sync.webhook_inbox
     where connection_id = $1 and status = 'waiting'`,
    `select 'a run that runs: ' || run_id from sync.runs where connection_id = $1 and status = 'running'`,
    `select 'damage that nobody did: ' || resource || '/' || record_id from sync.discrepancies
     where connection_id = $1 and kind = 'damaged'`,
  ].join(' union all ');
}

const childrenOf = [
  { parent: 'bills', table: 'bill_lines', key: 'bill_id' },
  { parent: 'bills', table: 'bill_payment_allocations', key: 'bill_id' },
  { parent: 'expenses', table: 'expense_lines', key: 'expense_id' },
  { parent: 'bill_credit_memos', table: 'bill_credit_memo_lines', key: 'bill_credit_memo_id' },
  { parent: 'customers', table: 'customer_addresses', key: 'customer_id' },
  { parent: 'items', table: 'item_subsidiaries', key: 'item_id' },
  { parent: 'subscriptions', table: 'subscription_items', key: 'subscription_id' },
];
