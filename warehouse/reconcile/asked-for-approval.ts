import { sql } from 'kysely';
import { resources } from '../../resources/index.ts';
import type { Warehouse } from '../open-warehouse.ts';

/** Condition of records that a reconcile found gone, as in `sync.waiting_deletions` and in the index. */
const foundGone = sql`closed_at is null and status = 'confirmed' and kind = 'extra' and version is not null`;

const streamsOfResources = sql.raw(
  resources
    .flatMap(({ name, streams }) => streams.map((stream) => `('${name}', '${stream.name}')`))
    .join(', '),
);

/**
 * Reconciles that have stopped to ask about deletions, by connection and resource, with their question. Each is found by index after the previous
 * one, however many records that has found gone.
 */
export const askedForApproval = sql`
  with recursive listed as (
    (
      select connection_id, resource, run_id from sync.discrepancies
      where ${foundGone}
      order by connection_id, resource, run_id
      limit 1
    )
    union all
    select next.connection_id, next.resource, next.run_id
    from listed
    cross join lateral (
      select d.connection_id, d.resource, d.run_id from sync.discrepancies d
      where ${foundGone}
        and (d.connection_id, d.resource, d.run_id) > (listed.connection_id, listed.resource, listed.run_id)
      order by d.connection_id, d.resource, d.run_id
      limit 1
    ) next
  )
  select listed.connection_id, listed.resource, listed.run_id, s.failure
  from listed
  join (values ${streamsOfResources}) as read (resource, stream) using (resource)
  join sync.run_streams s on s.run_id = listed.run_id and s.stream = read.stream and s.failure_type = 'ApprovalNeeded'`;

/** Reads the names of the connections whose deletions wait for approval; `readWaitingDeletions` reads the deletions of one. */
export async function connectionsAskingForApproval({ db }: Pick<Warehouse, 'db'>): Promise<string[]> {
  const { rows } = await sql<{ connection_id: string }>`
    select distinct connection_id from (${askedForApproval}) asked order by connection_id
  `.execute(db);
  return rows.map(({ connection_id }) => connection_id);
}
