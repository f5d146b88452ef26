import type { Warehouse } from '../open-warehouse.ts';
import type { RecordScope } from '../record-scope.ts';
import { isDue } from './due-connections.ts';

/** A webhook as it was when it was taken; if it was delivered again since, it is news. */
export interface TakenWebhook {
  readonly id: string;
  readonly deliveries: number;
}

export interface WaitingWebhooks {
  /** Entries that announce that the data of the connection is ready. */
  readonly dataReady: readonly TakenWebhook[];
  /**
   * For each resource with waiting webhooks: the number of records, without deleted ones and those that lists did not bring. Resources that were put
   * off come last, so that one whose requests take long is not in the way of the others.
   */
  readonly resources: ReadonlyMap<string, number>;
}

/** After so many lists without it, the record of a webhook is fetched, however many others wait. */
export const listsTried = 3;

/** Reads how many webhooks of a connection are due. */
export async function readWaiting({ pool }: Warehouse, connectionId: string): Promise<WaitingWebhooks> {
  const { rows } = await pool.query<{
    resource: string | null;
    dataReady: TakenWebhook[] | null;
    records: number;
  }>({
    name: 'read waiting webhooks',
    text: `
      select w.resource,
        ${takenSql} filter (where w.resource is null) as "dataReady",
        count(distinct w.record_id) filter (where not ${isDeletion('w')} and w.tries < ${listsTried}) as records
      from sync.webhook_inbox w
      join sync.connections c using (connection_id)
      where w.connection_id = $1 and w.status = 'waiting' and ${isDue}
      group by w.resource
      order by max(w.try_after) nulls first, min(w.id)`,
    values: [connectionId],
  });
  return {
    dataReady: rows.flatMap(({ dataReady }) => dataReady ?? []),
    resources: new Map(
      rows.flatMap(({ resource, records }) => (resource === null ? [] : [[resource, records]])),
    ),
  };
}

/** One record, with all webhooks that wait about it. */
export interface WaitingRecord {
  readonly id: string;
  readonly webhooks: readonly TakenWebhook[];
  /** A webhook says that the record was deleted. */
  readonly deleted: boolean;
  /** When that webhook arrived, about the time of the deletion. */
  readonly deletedAt: string | null;
  /** The final version according to a webhook of its deletion; null if none says. */
  readonly deletedVersion: string | null;
  /** The newest version of the webhooks and the held row; null if neither has one. */
  readonly version: string | null;
  /** The fewest tries of its webhooks. */
  readonly tries: number;
}

/** Reads the records that are due: first those with the fewest tries, and of these those that have waited longest. */
export async function takeWaiting(
  { pool }: Warehouse,
  input: RecordScope & { limit: number },
): Promise<WaitingRecord[]> {
  const { connectionId, resource, limit } = input;
  const { rows } = await pool.query<WaitingRecord>({
    name: `take waiting ${resource.name}`,
    text: `
      select waiting.id, waiting.webhooks, waiting.deleted, waiting."deletedAt", waiting."deletedVersion", waiting.tries,
        greatest(waiting.version, held.version)::text as version
      from (
        select w.record_id as id, ${takenSql} as webhooks, bool_or(${isDeletion('w')}) as deleted,
          (min(w.received_at) filter (where ${isDeletion('w')}))::text as "deletedAt",
          (max(w.version) filter (where ${isDeletion('w')}))::text as "deletedVersion", max(w.version) as version,
          min(w.tries)::int as tries
        from sync.webhook_inbox w
        join sync.connections c using (connection_id)
        where w.connection_id = $1 and w.resource = $2 and w.status = 'waiting' and ${isDue}
        group by w.record_id
        order by min(w.tries), min(w.id)
        limit $3
      ) waiting
      left join lateral (
        select f.${resource.version} as version
        from finance.${resource.name} f
        where f.connection_id = $1 and f.id = waiting.id
        offset 0
      ) held on true`,
    values: [connectionId, resource.name, limit],
  });
  return rows;
}

const takenSql = `jsonb_agg(jsonb_build_object('id', w.id::text, 'deliveries', w.deliveries))`;

/** Returns an SQL condition on an entry with that alias. */
export function isDeletion(alias: string): string {
  return String.raw`(${alias}.code like '%\_DELETED')`;
}
