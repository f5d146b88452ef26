import { sql } from 'kysely';
import { resourceNames } from '../../resources/index.ts';
import type { Warehouse } from '../open-warehouse.ts';

export interface QuarantineEntry {
  id: number;
  connection_id: string;
  resource: string;
  stream: string;
  record_id: string | null;
  /** Hash of the record in the entry, without last_synced_at. An entry may be given another form of its record. */
  content: string;
  reason: string;
  status: 'open' | 'landed' | 'discarded';
  first_seen_at: Date;
  last_seen_at: Date;
  /** Why it was closed; null while it is open. */
  closed_why: string | null;
}

const columns = [
  'id',
  'connection_id',
  'resource',
  'stream',
  'record_id',
  'reason',
  'status',
  'first_seen_at',
  'last_seen_at',
  'closed_why',
  // Entries of releases before 0.6 have none.
  sql<string>`coalesce(content, sync.content_hash(payload))`.as('content'),
] as const;

/** Lists open entries, or all, the newest first; without a limit, every one of them. */
export function listQuarantine(
  { db }: Warehouse,
  {
    all,
    connectionId,
    limit,
  }: { all: boolean; connectionId?: string | undefined; limit?: number | undefined },
): Promise<QuarantineEntry[]> {
  let query = db.selectFrom('sync.quarantine').select(columns).orderBy('id', 'desc');
  if (!all) query = query.where('status', '=', 'open');
  if (connectionId !== undefined) query = query.where('connection_id', '=', connectionId);
  if (limit !== undefined) query = query.limit(limit);
  return query.execute();
}

export interface NewestAsked {
  connectionId?: string | undefined;
  resource?: string | undefined;
  /** Only entries with lower numbers. */
  before?: number | undefined;
  limit: number;
}

/**
 * Lists the newest open entries, quickly however many others there are: an index has those of each resource in order, and the newest of these are
 * returned.
 */
export function newestOpenEntries(
  { db }: Warehouse,
  { connectionId, resource, before, limit }: NewestAsked,
): Promise<QuarantineEntry[]> {
  const narrowed = sql.join(
    [
      sql`status = 'open'`,
      ...(connectionId === undefined ? [] : [sql`connection_id = ${connectionId}`]),
      ...(before === undefined ? [] : [sql`id < ${before}`]),
    ],
    sql` and `,
  );
  const names = resource === undefined ? resourceNames : [resource];
  const ofEach = names.map(
    (name) =>
      sql`(select id from sync.quarantine where resource = ${name} and ${narrowed} order by id desc limit ${limit})`,
  );
  const newest = sql<number>`(
    select id from (${sql.join(ofEach, sql` union all `)}) entry order by id desc limit ${limit}
  )`;
  return db
    .selectFrom('sync.quarantine')
    .select(columns)
    .where('id', 'in', newest)
    .orderBy('id', 'desc')
    .execute();
}

/** Reads those of the entries that exist, in the order of their numbers. */
export async function readQuarantineEntries(
  { db }: Warehouse,
  ids: readonly number[],
): Promise<QuarantineEntry[]> {
  if (ids.length === 0) return [];
  return db
    .selectFrom('sync.quarantine')
    .select(columns)
    .where('id', 'in', [...ids])
    .orderBy('id')
    .execute();
}

/** Reads one entry with the record's text as the API sent it; undefined if there is none with that number. */
export function readQuarantineEntry(
  { db }: Warehouse,
  id: number,
): Promise<(QuarantineEntry & { payload: string }) | undefined> {
  return db
    .selectFrom('sync.quarantine')
    .select([...columns, 'payload'])
    .where('id', '=', id)
    .executeTakeFirst();
}
