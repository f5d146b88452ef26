import type { PoolClient } from 'pg';
import type { Resource } from '../../resources/resource.ts';
import { latestVersion } from '../history/latest-version.ts';
import type { RecordScope } from '../record-scope.ts';
import type { PreparedRecord } from './prepared-page.ts';

/**
 * The records of a page by what is to be done with them. inserted: not held yet; lost: not held either, though history has it alive; changed: its
 * text differs from the one held, or the row is older than the newest version in history, because somebody restored it; touched: only its version
 * moved; unchanged: nothing; suppressed: a tombstone or a newer version beats it.
 */
export interface Classified {
  readonly inserted: PreparedRecord[];
  readonly lost: PreparedRecord[];
  readonly changed: PreparedRecord[];
  readonly touched: PreparedRecord[];
  readonly unchanged: PreparedRecord[];
  readonly suppressed: PreparedRecord[];
  /** IDs of records with a tombstone, an open quarantine entry or a field issue. */
  readonly unsettled: ReadonlySet<string>;
  /** True if only a fetch can decide about a record: it is shown within a minute of its deletion, or although a newer row or tombstone is stored. */
  doubted: boolean;
  /** True if a record is alive again within a minute of its deletion: the list may only be lagging. */
  revived: boolean;
}

type Outcome = Exclude<keyof Classified, 'unsettled' | 'doubted' | 'revived'>;

/** Classifies records. Expects the resource of the connection to be locked, so that the result stays true until the commit. */
export async function classifyRecords(
  client: PoolClient,
  input: RecordScope & {
    records: readonly PreparedRecord[];
    askedAt?: string | null;
    /** IDs of records that count as newer than anything held. */
    overruling?: readonly string[];
  },
): Promise<Classified> {
  const { connectionId, resource, records, askedAt = null, overruling = [] } = input;
  const found = await client.query<Found>({
    name: `classify ${resource.name}`,
    text: classifySql(resource),
    values: [
      connectionId,
      records.map(({ id }) => id),
      records.map(({ version }) => version),
      records.map(({ hash }) => hash),
      overruling,
      askedAt,
    ],
  });
  const unsettled = new Set<string>();
  const classified: Classified = {
    inserted: [],
    lost: [],
    changed: [],
    touched: [],
    unchanged: [],
    suppressed: [],
    unsettled,
    doubted: false,
    revived: false,
  };
  records.forEach((record, index) => {
    const row = found.rows[index];
    if (row === undefined) return;
    classified[row.outcome].push(record);
    if (row.unsettled) unsettled.add(record.id);
    classified.doubted ||= row.soonAfter || row.allTheSame;
    classified.revived ||= row.soonAfter && row.outcome !== 'suppressed';
  });
  return classified;
}

interface Found {
  readonly outcome: Outcome;
  readonly unsettled: boolean;
  readonly soonAfter: boolean;
  readonly allTheSame: boolean;
}

/**
 * `offset 0` keeps the planner at one index look-up per record, however large the table grows. History is looked up only where
 * there is no row. Most resources have no tombstones, field issues or quarantine entries: whether they do is looked up once per page.
 */
function classifySql(resource: Resource): string {
  const isOfResource = `connection_id = $1 and resource = '${resource.name}'`;
  return `
    select case
      when tombstone.version >= arriving.version then 'suppressed'
      when ${mayBeOlder(resource)} then 'suppressed'
      when held.id is null then case
        when (select op from (${latestVersion(resource.name, 'arriving.id')}) latest) = 'upsert' then 'lost'
        else 'inserted'
      end
      when held.version > arriving.version then 'suppressed'
      when held.hash <> arriving.hash then 'changed'
      when held.version = arriving.version then 'unchanged'
      when (select recorded_at from (${latestVersion(resource.name, 'arriving.id')}) latest) > held.changed_at then 'changed'
      else 'touched'
    end as outcome,
      coalesce(${isSoonAfter}, false) as "soonAfter",
      coalesce(${isShownAllTheSame(resource)}, false) as "allTheSame",
      tombstone.version is not null
        or (select exists (select from sync.field_issues where ${isOfResource})) and exists (
          select from sync.field_issues where ${isOfResource} and record_id = arriving.id
        )
        or (select exists (select from sync.quarantine where ${isOfResource} and status = 'open')) and exists (
          select from sync.quarantine where ${isOfResource} and entry_key = arriving.id and status = 'open'
        ) as unsettled
    from (
      select id, case when id = any($5::text[]) then 'infinity' else version end as version, hash, place
      from unnest($2::text[], $3::timestamptz[], $4::bytea[]) with ordinality as page (id, version, hash, place)
    ) arriving
    left join lateral (
      select f.id, f.${resource.version} as version, f._content_hash as hash, f._changed_at as changed_at
      from finance.${resource.name} f
      where f.connection_id = $1 and f.id = arriving.id
      offset 0
    ) held on true
    left join lateral (
      select t.version, t.noted_at, t.source
      from sync.tombstones t
      where (select exists (select from sync.tombstones where ${isOfResource}))
        and t.connection_id = $1 and t.resource = '${resource.name}' and t.record_id = arriving.id
      offset 0
    ) tombstone on true
    order by arriving.place`;
}

/**
 * Returns an SQL condition: a newer version may be from before the deletion. If versions are the platform's times, its clock may be ahead by any
 * amount, and a page in flight, requested before the deletion was found, may show such a version.
 */
function mayBeOlder({ version }: Resource): string {
  return version === 'updated_at' ? `tombstone.noted_at > $6::timestamptz` : isOfItsSecond;
}

/**
 * Whether the arriving version is from the very second of the deletion. A deletion by webhook has the second in which the service answered,
 * and an event may have whole seconds only. The record may have been touched in that second, before it was deleted. A response that was
 * requested before the deletion (unknown for a fetch), or a list that lags behind a webhook, then shows such a version: it is suppressed.
 * A list that lags behind an event is corrected when the event is read again. A record that was recreated in that second is found by the
 * reconcile that is requested then.
 */
const isOfItsSecond = `(
        arriving.version <> 'infinity' and date_trunc('second', arriving.version) <= tombstone.version
        and (tombstone.source = 'webhook' or tombstone.version = date_trunc('second', tombstone.version)
          and coalesce(tombstone.noted_at > $6::timestamptz, true))
      )`;

/** The server that announced the deletion may be up to a minute behind the server that touched the record last. */
const isSoonAfter = `(
        tombstone.version < arriving.version and arriving.version < tombstone.version + interval '1 minute'
      )`;

/**
 * In SQL, whether a suppressed record still contradicts what has been stored for five minutes: it has different content under an older
 * version than the row, or it is alive although there is a tombstone. Lists lag by seconds only, so the stored version came from a clock
 * that was ahead: another server's, or one that was corrected since. False if a reconcile has already decided this case. The limit is five
 * minutes because a list that lags longer would make Daybook list the whole resource for each edit that a webhook brings.
 */
function isShownAllTheSame({ name }: Resource): string {
  const asked = `coalesce($6::timestamptz, clock_timestamp()) - interval '5 minutes'`;
  return `(
        (
          held.version > arriving.version and held.hash <> arriving.hash and held.changed_at < ${asked}
          or held.id is null and tombstone.version >= arriving.version and tombstone.noted_at < ${asked}
        ) and not exists (
          select from sync.discrepancies d
          where d.connection_id = $1 and d.resource = '${name}' and d.record_id = arriving.id and d.kind = 'ahead'
            and d.closed_at is not null and d.shown_hash = arriving.hash
            and d.version = coalesce(held.version, tombstone.version)
        )
      )`;
}
