import { sql, type RawBuilder } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';

interface WindowsOfStream {
  connectionId: string;
  stream: string;
  /** Name of the plan. */
  plan: string;
}

/** Reads the oldest window of a stream that is left, and the number of those left; undefined if all are done. */
export async function nextWindow(
  { db }: Pick<Warehouse, 'db'>,
  { connectionId, stream, plan }: WindowsOfStream,
): Promise<{ part: string; left: number } | undefined> {
  return db
    .selectFrom('sync.passes')
    .select(['part', sql<number>`count(*) over ()`.as('left')])
    .where('connection_id', '=', connectionId)
    .where('stream', '=', stream)
    .where('kind', '=', 'backfill')
    .where(isOfPlan(plan))
    .orderBy('floor')
    .limit(1)
    .executeTakeFirst();
}

/** Drops the windows of a stream that are left, because the service does not list it. */
export async function dropWindows(
  { db }: Pick<Warehouse, 'db'>,
  { connectionId, stream, plan }: WindowsOfStream,
): Promise<void> {
  await db
    .deleteFrom('sync.passes')
    .where('connection_id', '=', connectionId)
    .where('stream', '=', stream)
    .where('kind', '=', 'backfill')
    .where(isOfPlan(plan))
    .execute();
}

/** Whether a row of `sync.passes` is a window of the plan of this name. */
export function isOfPlan(plan: string): RawBuilder<boolean> {
  return sql`starts_with(part, ${plan} || '/')`;
}
