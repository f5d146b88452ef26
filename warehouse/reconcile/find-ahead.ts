import type { PoolClient } from 'pg';
import type { Resource } from '../../resources/resource.ts';
import type { Findings } from '../landing/land-records.ts';
import type { PreparedRecord } from '../landing/prepared-page.ts';
import type { PassInHand } from '../passes/pass.ts';
import { closeOverruled } from '../quarantine/close-overruled.ts';
import { isLongAgo, listLag } from './list-lag.ts';

/**
 * Notes records that a reconcile's listing shows with other content under an older version than the one held, or alive although a tombstone is not
 * older. Either the list lags, or the held version came from a wrong clock that has been corrected. A fetch tells which; without fetches, two
 * consecutive reconciles that show the same do, further apart than a list may lag. Records that another run has written since the listing began do
 * not count: the listing could not know them. If the content is equal, only the version is wrong, and only if no lag explains it: it lies in the
 * service's future, or so far back that any list would show it.
 */
export async function findAhead(
  client: PoolClient,
  input: {
    pass: PassInHand;
    resource: Resource;
    landedAt: string;
    /** The service's time of the response; null if it tells none. */
    servedAt: Date | null;
    findings: Pick<Findings, 'suppressed'>;
  },
): Promise<void> {
  const { pass, resource, landedAt, servedAt, findings } = input;
  const { suppressed } = findings;
  if (suppressed.length === 0) return;
  await client.query({
    name: `find ahead of ${resource.name}`,
    text: findSql(resource),
    values: [
      pass.connectionId,
      resource.name,
      pass.runId,
      pass.stream,
      landedAt,
      suppressed.map(({ record }) => record.id),
      suppressed.map(({ record }) => record.version),
      suppressed.map(({ record }) => record.hash),
      suppressed.map(({ differs }) => differs),
      servedAt,
    ],
  });
}

function findSql(resource: Resource): string {
  return `
    insert into sync.discrepancies as open
      (connection_id, resource, record_id, kind, status, version, run_id, found_at, shown_version, shown_hash,
        shown_at)
    select $1, $2, shown.id, 'ahead', 'checking', coalesce(held.version, tombstone.version), $3, $5,
      shown.version, shown.hash, $10
    from unnest($6::text[], $7::timestamptz[], $8::bytea[], $9::boolean[]) as shown (id, version, hash, differs)
    cross join (
      select started_at as at from sync.passes
      where connection_id = $1 and stream = $4 and kind = 'reconcile' and run_id = $3
    ) began
    -- The clock of the database, where the service does not tell its time.
    cross join (select coalesce($10::timestamptz, clock_timestamp()) as served) now
    left join lateral (
      select f.${resource.version} as version, f._changed_at as written_at, f._run_id as run_id
      from finance.${resource.name} f
      where f.connection_id = $1 and f.id = shown.id
      offset 0
    ) held on true
    left join lateral (
      select t.version, t.noted_at
      from sync.tombstones t
      where t.connection_id = $1 and t.resource = $2 and t.record_id = shown.id
      offset 0
    ) tombstone on true
    where case when held.version is null
      then tombstone.noted_at < began.at
      else (held.written_at < began.at or held.run_id = $3) and (
        shown.differs or held.version > now.served or held.version < now.served - interval '1 hour'
      )
    end
    on conflict (connection_id, resource, record_id) where closed_at is null do update set
      kind = 'ahead', status = 'checking', version = excluded.version, run_id = excluded.run_id,
      found_at = excluded.found_at, failing_since = null, shown_version = excluded.shown_version, shown_hash = excluded.shown_hash,
      shown_by = case when ${isSame} then open.shown_by end,
      shown_at = case when ${isSame} then coalesce(open.shown_at, excluded.shown_at) else excluded.shown_at end`;
}

const isSame = 'open.shown_hash = excluded.shown_hash and open.version = excluded.version';

/**
 * Reads the IDs of the records that an earlier complete reconcile showed in the same form, longer ago than a list may lag, while the same was held.
 * These land now.
 */
export async function readShownTwice(
  client: PoolClient,
  input: {
    pass: PassInHand;
    resource: Resource;
    records: readonly PreparedRecord[];
    /** The service's time of the response; null if it tells none. */
    servedAt: Date | null;
    lookbackMilliseconds: number;
  },
): Promise<string[]> {
  const { pass, resource, records, servedAt, lookbackMilliseconds } = input;
  const { rows } = await client.query<{ id: string }>({
    name: `read shown twice of ${resource.name}`,
    text: `
      with shown as materialized (
        select $1::text as connection_id, * from unnest($4::text[], $5::bytea[]) as page (id, hash)
      )
      select shown.id
      from shown
      join sync.discrepancies d
        on d.connection_id = shown.connection_id and d.resource = $2 and d.record_id = shown.id and d.closed_at is null
      left join finance.${resource.name} held on held.connection_id = shown.connection_id and held.id = shown.id
      left join sync.tombstones t on t.connection_id = shown.connection_id and t.resource = $2 and t.record_id = shown.id
      where d.kind = 'ahead' and d.shown_hash = shown.hash and d.shown_by is not null and d.run_id <> $3
        and coalesce(held.${resource.version}, t.version) = d.version
        and ${isLongAgo(`d.shown_at <= $6::timestamptz - ${listLag(resource, '$7')}`, listLag(resource, '$7'))}`,
    values: [
      pass.connectionId,
      resource.name,
      pass.runId,
      records.map(({ id }) => id),
      records.map(({ hash }) => hash),
      servedAt,
      lookbackMilliseconds,
    ],
  });
  return rows.map(({ id }) => id);
}

/** Closes the discrepancies and the quarantine entries of records that landed because two reconciles in a row showed them. */
export async function closeShownTwice(
  client: PoolClient,
  input: { pass: PassInHand; resource: Resource; landedAt: string; ids: readonly string[] },
): Promise<void> {
  const { pass, resource, landedAt, ids } = input;
  if (ids.length === 0) return;
  const { rows } = await client.query<{ began: string }>(
    `select started_at::text as began from sync.passes
     where connection_id = $1 and stream = $2 and kind = 'reconcile' and run_id = $3 and part = $4`,
    [pass.connectionId, pass.stream, pass.runId, pass.part],
  );
  const [{ began } = { began: landedAt }] = rows;
  await closeOverruled(client, { connectionId: pass.connectionId, resource, ids, foundAt: began, landedAt });
  await client.query({
    name: 'close shown twice',
    text: `
      update sync.discrepancies
      set status = 'repaired', run_id = $4, closed_at = $5, closed_why = 'two reconciles in a row showed it so'
      where connection_id = $1 and resource = $2 and record_id = any($3::text[]) and kind = 'ahead'
        and closed_at is null`,
    values: [pass.connectionId, resource.name, ids, pass.runId, landedAt],
  });
}
