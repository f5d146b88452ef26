import { platformNamed } from '../../sandbox/api/platforms.ts';
import { compareWithSource } from '../support/compare-with-source.ts';
import { parseExactly } from '../support/exact-json.ts';
import { canonicalJson, isObject } from '../support/source-value.ts';
import type { History } from './history.ts';
import { judgeQuarantine } from './judge-quarantine.ts';
import type { Company } from './company.ts';
import type { Environment } from './environment.ts';
import { nameOf, parseRecordName, streamOf, type TrueRecord } from './true-record.ts';
import { InvariantViolation } from './invariant-checker.ts';

type CompanyAtEnd = Pick<Company, 'harness' | 'history' | 'connection' | 'source' | 'environment'>;

/**
 * Judges, after a sync without troubles, that everything that a sync can know of matches the source. What a sync cannot know is marked at
 * the record: see `TrueRecord.hidden` and `behindWatermark`. `readFromStart` streams were read from the start. `continued` streams were read from
 * where another run had stopped, so that records listed late, before that point, belong to the next sync.
 */
export async function judgeSync(
  end: CompanyAtEnd,
  { readFromStart, continued }: { readFromStart: ReadonlySet<string>; continued: ReadonlySet<string> },
): Promise<void> {
  const { maxListLagEver } = end.environment;
  const tombstones = await readTombstones(end);
  const isHidden = (record: TrueRecord): boolean =>
    record.hidden ||
    isBuried(record, tombstones.get(nameOf(record)), end.environment) ||
    (record.behindWatermark && !(record.live && readFromStart.has(streamOf(record)))) ||
    (maxListLagEver > 0 && record.resource === 'subscriptions') ||
    (record.backdatedBy > 0 && continued.has(streamOf(record))) ||
    // A reconcile identified the nameless record by its content and took it for gone; only the next reconcile sees it again.
    (record.nameless && end.environment.laggedTooFar(record));
  const hidden = [...end.source.records.values()].filter(isHidden);
  const isExcused = (difference: string): boolean => hidden.some(({ id }) => isAbout(difference, id));
  const differences = await findDifferences(end);
  const [first] = differences.filter((difference) => !isExcused(difference));
  if (first !== undefined) throw new InvariantViolation(`After a sync: ${first}.`);
  const shownLate = maxListLagEver > 0 ? await readEntriesSeenByReconciles(end) : new Set<string>();
  // A reconcile with a lagging list showed a bad form from before a known deletion. The next reconcile closes the entry.
  const isShownLate = (record: TrueRecord): boolean =>
    !record.live && tombstones.has(nameOf(record)) && shownLate.has(nameOf(record));
  await judgeQuarantine(end, (record) => !isHidden(record) && !isShownLate(record));
}

/** Open entries of quarantine that a reconcile saw last. */
async function readEntriesSeenByReconciles({
  harness,
  connection,
}: Pick<CompanyAtEnd, 'harness' | 'connection'>): Promise<ReadonlySet<string>> {
  const { rows } = await harness.watcher.query<{ name: string }>(
    `select q.resource || '/' || q.record_id as name from sync.quarantine q join sync.runs r using (run_id)
     where q.connection_id = $1 and q.status = 'open' and r.kind = 'reconcile'`,
    [connection],
  );
  return new Set(rows.map(({ name }) => name));
}

/** The versions of the tombstones, by record name. */
export async function readTombstones({
  harness,
  connection,
}: Pick<CompanyAtEnd, 'harness' | 'connection'>): Promise<ReadonlyMap<string, number>> {
  const { rows } = await harness.watcher.query<{ name: string; version: number }>(
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
  environment: Environment,
): boolean {
  if (tombstone === undefined || record.version > tombstone) return false;
  return record.version > tombstone - 1_000 || environment.laggedTooFar(record);
}

/** Judges, after a reconcile without troubles, that everything matches the source or is provably deleted. */
export async function judgeReconcile(end: CompanyAtEnd): Promise<void> {
  await judgeTables(end, 'After a reconcile');
  await judgeQuarantine(end, () => true);
  await judgeTombstones(end);
  await judgeHistory(end);
  await judgeLeftovers(end);
}

/** Judges that every field of `finance` matches the source. */
export async function judgeTables(end: CompanyAtEnd, when: string): Promise<void> {
  const [first] = await findDifferences(end);
  if (first !== undefined) throw new InvariantViolation(`${when}: ${first}.`);
}

/** Whether a difference names exactly this record, not one with a longer id. */
function isAbout(difference: string, id: string): boolean {
  const place = difference.indexOf(id);
  const around = [difference[place - 1], difference[place + id.length]];
  return place >= 0 && around.every((letter) => letter === undefined || !/[\w-]/.test(letter));
}

/** Quarantine is judged record by record: see `judgeQuarantine`. */
async function findDifferences({
  harness,
  connection,
  source,
  history,
}: CompanyAtEnd): Promise<readonly string[]> {
  const { databaseUrl, admin } = harness;
  const { differences } = await compareWithSource({
    databaseUrl,
    admin,
    connectionId: connection,
    tables: source.listed,
    expandPlatformData: history.expands === true,
  });
  const nameless = [...source.records.values()].filter((record) => record.nameless);
  return differences.filter(
    (difference) =>
      !/^\w+: (not )?in quarantine/.test(difference) &&
      !nameless.some(({ sourceId }) => isAbout(difference, sourceId)),
  );
}

async function judgeTombstones({ harness, connection, source }: CompanyAtEnd): Promise<void> {
  const queryNames = async (sql: string): Promise<Set<string>> => {
    const { rows } = await harness.watcher.query<{ name: string }>(sql, [connection]);
    return new Set(rows.map(({ name }) => name));
  };
  const seen = await queryNames(
    `select distinct resource || '/' || record_id as name from history.record_versions where connection_id = $1`,
  );
  const deleted = await queryNames(
    `select resource || '/' || id as name from finance.deleted_records where connection_id = $1`,
  );
  for (const [name, { live, spoiled }] of source.records) {
    if (!live && seen.has(name) && !deleted.has(name))
      throw new InvariantViolation(`${name} is gone, and nothing proves it.`);
    if (live && !spoiled && deleted.has(name))
      throw new InvariantViolation(`${name} lives, and counts as deleted.`);
  }
}

/** Judges that no two consecutive contents are equal, that each record ends as finance has it, and that finance has what the source says. */
async function judgeHistory({ harness, connection, source, environment }: CompanyAtEnd): Promise<void> {
  const { rows: repeated } = await harness.watcher.query<{ name: string }>(repeatedSql, [connection]);
  if (repeated[0] !== undefined)
    throw new InvariantViolation(`History has the same twice in a row: ${repeated[0].name}.`);
  // Includes entries recorded while the clock was ahead.
  const now = environment.databaseJumps.length > 0 ? `'infinity'` : 'sim.clock_timestamp()';
  for (const resource of source.listed) {
    const { rows } = await harness.watcher.query<{ record_id: string; payload: string }>(
      `select record_id, payload::text as payload from history.as_of($1, ${now}) where connection_id = $2`,
      [resource, connection],
    );
    const known = new Map(rows.map(({ record_id, payload }) => [record_id, comparableContent(payload)]));
    const lines = await harness.admin.content(connection, resource);
    for (const line of lines) {
      const name = parseRecordName(resource, line);
      const record = name === undefined ? undefined : source.records.get(name);
      if (record === undefined || record.spoiled) continue;
      if (known.get(record.id) !== comparableContent(line))
        throw new InvariantViolation(`History does not end with what the source has of ${name ?? ''}.`);
    }
    for (const id of known.keys()) {
      if (source.records.get(`${resource}/${id}`)?.live !== true)
        throw new InvariantViolation(`History does not know that ${resource}/${id} is gone.`);
    }
  }
}

function comparableContent(text: string): string {
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

async function judgeLeftovers({ harness, connection, history, source }: CompanyAtEnd): Promise<void> {
  const { rows } = await harness.watcher.query<{ leftover: string }>(leftoverSql(history), [connection]);
  if (rows[0] !== undefined) throw new InvariantViolation(`Something is left: ${rows[0].leftover}.`);
  const spoiled = [...source.records.values()].some((record) => record.spoiled && record.live);
  const platform = platformNamed(history.platform);
  if (spoiled || !history.resources.some((resource) => platform.lists.includes(resource))) return;
  const { rows: last } = await harness.watcher.query<{
    kind: string;
    status: string;
    failure: string | null;
  }>(
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
      throw new InvariantViolation(
        `The last ${kind}, with no trouble left, is ${status}: ${String(failure)}`,
      );
  }
}

/** Selects child rows without their record, webhooks that wait forever, and runs that never end. */
function leftoverSql({ resources }: History): string {
  const children = childTables.filter(({ parent }) => resources.some((resource) => resource === parent));
  return [
    ...children.map(
      ({ parent, table, key }) =>
        `select '${table} of ' || ${key} as leftover from finance.${table} c where connection_id = $1
           and not exists (select from finance.${parent} p where p.connection_id = $1 and p.id = c.${key})`,
    ),
    `select 'a webhook that waits: ' || type || ' ' || coalesce(outcome, '') from sync.webhook_inbox
     where connection_id = $1 and status = 'waiting'`,
    `select 'a run that runs: ' || run_id from sync.runs where connection_id = $1 and status = 'running'`,
    `select 'damage that was not injected: ' || resource || '/' || record_id from sync.discrepancies
     where connection_id = $1 and kind = 'damaged'`,
  ].join(' union all ');
}

const childTables = [
  { parent: 'bills', table: 'bill_lines', key: 'bill_id' },
  { parent: 'bills', table: 'bill_payment_allocations', key: 'bill_id' },
  { parent: 'expenses', table: 'expense_lines', key: 'expense_id' },
  { parent: 'bill_credit_memos', table: 'bill_credit_memo_lines', key: 'bill_credit_memo_id' },
  { parent: 'customers', table: 'customer_addresses', key: 'customer_id' },
  { parent: 'items', table: 'item_subsidiaries', key: 'item_id' },
  { parent: 'subscriptions', table: 'subscription_items', key: 'subscription_id' },
];
