import type { Warehouse } from '../open-warehouse.ts';

export interface QuarantineEntry {
  id: number;
  connection_id: string;
  resource: string;
  stream: string;
  record_id: string | null;
  reason: string;
  status: 'open' | 'landed' | 'discarded';
  first_seen_at: Date;
  last_seen_at: Date;
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
] as const;

/** Open entries, the newest first; with `all` the closed ones too. */
export function listQuarantine({ db }: Warehouse, { all }: { all: boolean }): Promise<QuarantineEntry[]> {
  const query = db.selectFrom('sync.quarantine').select(columns).orderBy('id', 'desc');
  return (all ? query : query.where('status', '=', 'open')).execute();
}

/** One entry with the record's text as the API sent it; undefined when there is none of that number. */
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
