import type { PoolClient } from 'pg';
import type { Resource } from '../../resources/resource.ts';
import { listLag } from '../reconcile/list-lag.ts';
import type { RecordScope } from '../record-scope.ts';

/** The facts about a record's row that an erasure compares. */
export interface HeldRecord {
  readonly version: string;
  readonly changedAt: string;
}

/** Whether two reads of a row found the same. */
export function isSame(one: HeldRecord, other: HeldRecord | null): boolean {
  return one.version === other?.version && one.changedAt === other.changedAt;
}

/** Reads the row of a record; null if none is held. */
export async function readHeld(
  client: Pick<PoolClient, 'query'>,
  { connectionId, resource, id }: RecordScope & { id: string },
): Promise<HeldRecord | null> {
  const { rows } = await client.query<HeldRecord>(
    `select ${resource.version}::text as version, _changed_at::text as "changedAt"
     from finance.${resource.name} where connection_id = $1 and id = $2`,
    [connectionId, id],
  );
  return rows[0] ?? null;
}

/** Whether a list may lag behind the held row: the row was written less long ago than a list may lag. */
export async function mayListLagBehind(
  client: Pick<PoolClient, 'query'>,
  { changedAt }: HeldRecord,
  { resource, lookbackMilliseconds }: { resource: Resource; lookbackMilliseconds: number },
): Promise<boolean> {
  const { rows } = await client.query<{ may: boolean }>(
    `select $1::timestamptz > clock_timestamp() - ${listLag(resource, '$2')} as may`,
    [changedAt, lookbackMilliseconds],
  );
  return rows[0]?.may ?? true;
}
