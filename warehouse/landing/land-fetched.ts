import type { PoolClient } from 'pg';
import { isObject } from '../../resources/is-object.ts';
import { sentIdOf, type SourceRecord } from '../../resources/source-record.ts';
import { expandsPlatformData } from '../connections/expands-platform-data.ts';
import { requireProof } from '../connections/prove-token.ts';
import { inTransaction } from '../transactions/in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { readHeld } from './read-held.ts';
import { lockResource } from '../passes/lock-pass.ts';
import { latestVersion } from '../history/latest-version.ts';
import { noteOffered } from '../passes/note-offered.ts';
import { noteAhead } from '../passes/note-ahead.ts';
import type { RunScope } from '../record-scope.ts';
import { noteMet } from '../reconcile/note-met.ts';
import { wantReconcile } from '../reconcile/want-reconcile.ts';
import { bisectRecords } from './bisect-records.ts';
import { digitsOf } from './digits-of.ts';
import { landRecords, type LandedCounts } from './land-records.ts';
import { preparePage } from './prepared-page.ts';
import { quarantineRecords } from './quarantine-records.ts';

export interface FetchedLanding {
  readonly counts: LandedCounts;
  /** Why the record could not land; it is then in quarantine. */
  readonly refused: string | undefined;
}

/** A record that did not come with a page. */
export interface RecordToLand extends RunScope {
  /** The stream that it belongs to, if known; absent: the resource's first one. */
  readonly stream?: string;
  readonly record: SourceRecord;
  /** The record may be seconds ahead of its list, as records announced by webhooks are; then no sync is required to see it. */
  readonly aheadOfList?: boolean;
  /** How far before their watermarks syncs begin. An unknown record that is older than that has been missed by them. */
  readonly lookbackMilliseconds?: number;
}

/**
 * Lands one record that was fetched by its ID or taken out of quarantine. The same rules apply as for pages: the newest version wins, and a record
 * that a tombstone beats stays deleted. `token` is the mark of the access token used for the fetch, `servedAt` the service's time; both are null for
 * a record that was kept here. `close` closes the reason for the landing in the same commit.
 *
 * Throws TokenNotProved, UnknownConnection, ConnectionReplaced; errors of the database pass through.
 */
export async function landFetched(
  warehouse: Warehouse,
  input: RecordToLand & { readonly token: string | null; readonly servedAt: Date | null },
  close: (client: PoolClient, landing: FetchedLanding) => Promise<void> = () => Promise.resolve(),
): Promise<FetchedLanding> {
  const { connectionId, resource, runId, token, servedAt, record } = input;
  return inTransaction(warehouse.pool, async ({ client }) => {
    const { landedAt } = await lockResource(client, { connectionId, resource: resource.name, runId });
    if (token !== null) {
      await requireProof(client, { connectionId, runId, token });
      await noteMet(client, { connectionId, resource, runId, ids: idsShown(record), servedAt });
    }
    const landing = await landOne(client, { ...input, landedAt });
    // A fetch does not lag: either it was sent before the deletion, or the tombstone has the wrong time.
    if (token !== null && landing.counts.suppressed > 0 && !(await isHeld(client, input)))
      await wantReconcile(client, { connectionId, resource });
    if (token !== null) await noteOffered(client, { connectionId, resource, ids: textIds(record) });
    const isChanged = landing.counts.inserted + landing.counts.updated > 0;
    if (isChanged && ((await isPassedBy(client, input)) || (await lacksPlatformData(client, input))))
      await wantReconcile(client, { connectionId, resource });
    await close(client, landing);
    return landing;
  });
}

/** Whether syncs missed the record because its list showed it too late. It may be one of many, because services check records in bulk. */
async function isPassedBy(
  client: PoolClient,
  { connectionId, resource, record, lookbackMilliseconds }: RecordToLand,
): Promise<boolean> {
  if (lookbackMilliseconds === undefined) return false;
  const { rows } = await client.query<{ passed: boolean }>(
    `select coalesce(bool_and(f.${resource.version} < s.watermark - $3 * interval '1 millisecond'), false) as passed
     from sync.streams s, finance.${resource.name} f
     where s.connection_id = $1 and s.resource = '${resource.name}' and s.watermark is not null
       and f.connection_id = $1 and f.id = any($2::text[])`,
    [connectionId, textIds(record), lookbackMilliseconds],
  );
  return rows[0]?.passed ?? false;
}

/** Whether only a complete listing still brings the `platform_data` of the record; that of a webhook comes with the next list. */
async function lacksPlatformData(
  client: PoolClient,
  { connectionId, token, aheadOfList }: RecordToLand & { readonly token: string | null },
): Promise<boolean> {
  return token !== null && aheadOfList !== true && (await expandsPlatformData(client, connectionId));
}

async function isHeld(client: PoolClient, { record, ...where }: RecordToLand): Promise<boolean> {
  const [id] = textIds(record);
  return id !== undefined && (await readHeld(client, { ...where, id })) !== null;
}

/** Lands one record in a transaction that holds the resource. `overruling` holds its ID if it lands whatever newer version is held. */
export async function landOne(
  client: PoolClient,
  input: RecordToLand & { readonly landedAt: string; readonly overruling?: readonly string[] },
): Promise<FetchedLanding> {
  const { connectionId, resource, runId, landedAt, overruling = [] } = input;
  const page = await preparePage(resource, [await withPlatformData(client, input)]);
  const where = { connectionId, resource, runId, landedAt };
  const landed = await bisectRecords(client, page.records, async (records) => {
    const { counts, findings } = await landRecords(client, {
      ...where,
      records,
      compare: 'columns',
      overruling,
    });
    if (findings.doubted) await wantReconcile(client, where);
    return counts;
  });
  const refused = [...page.refused, ...landed.refused];
  const [stream] = resource.streams;
  if (refused.length > 0) {
    const mayLag = input.aheadOfList === true;
    const kept = await quarantineRecords(client, {
      ...where,
      stream: input.stream ?? stream.name,
      mayLag,
      refused,
    });
    if (mayLag && kept === 0)
      return { counts: { ...landed.counts, suppressed: refused.length }, refused: undefined };
  } else if (input.aheadOfList !== true && page.highest !== null && resource.streams.length === 1) {
    await noteAhead(client, { connectionId, stream: stream.name, highest: page.highest, landedAt });
  }
  return { counts: landed.counts, refused: refused[0]?.reason };
}

/**
 * Adds the stored `platform_data`: a fetch brings none, or null, so the data that a list brought last are kept. Those of a record that is not held are
 * in its history.
 */
async function withPlatformData(client: PoolClient, input: RecordToLand): Promise<SourceRecord> {
  const { connectionId, resource, record } = input;
  const { text, value } = record;
  if (!isObject(value) || (value.platform_data ?? null) !== null || typeof value.id !== 'string')
    return record;
  if (!resource.columns.some(({ name }) => name === 'platform_data')) return record;
  const { rows } = await client.query<{ data: string | null }>(
    `select nullif(case when held.id is not null then held.platform_data else latest.payload -> 'platform_data' end, 'null')::text as data
     from (values ($2::text)) as fetched (id)
     left join finance.${resource.name} held on held.connection_id = $1 and held.id = fetched.id
     left join lateral (${latestVersion(resource.name, 'fetched.id')}) latest on held.id is null`,
    [connectionId, value.id],
  );
  const data = rows[0]?.data ?? null;
  // At the end: if two members have the same name, the last one counts.
  return data === null ? record : { text: text.replace(/\}\s*$/, () => `,"platform_data":${data}}`), value };
}

function textIds(record: SourceRecord): string[] {
  const id = sentIdOf(record);
  return typeof id === 'string' ? [id] : [];
}

/** IDs under which the record may be held. */
function idsShown(record: SourceRecord): string[] {
  const id = sentIdOf(record);
  return typeof id === 'string' ? [id] : digitsOf(id, record.text);
}
