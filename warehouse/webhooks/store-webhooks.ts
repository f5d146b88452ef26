import type { PoolClient } from 'pg';
import { problemOfNumbers } from '../../resources/huge-number.ts';
import { resourceNamed } from '../../resources/index.ts';
import { inTransaction } from '../transactions/in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { wantReconcile } from '../reconcile/want-reconcile.ts';
import { isDeletion } from './waiting-webhooks.ts';

/** A webhook as it is stored. */
export interface WebhookToStore {
  /** Its body without access tokens, as JSON text. */
  readonly text: string;
  readonly digest: string;
  readonly type: string;
  readonly code: string;
  readonly serviceConnectionId: string | null;
  readonly resource: { readonly name: string } | null;
  readonly recordId: string | null;
  readonly version: string | null;
}

export interface WebhooksStored {
  /** Connections with something to apply now: neither paused nor held back. */
  readonly due: readonly string[];
  /** The data of a connection that has no name here is ready: it may be any whose identity is not known yet. */
  readonly isUnknownDataReady: boolean;
}

/**
 * Stores webhooks, all or none, in one commit. A repeated content is counted. An entry that was applied stays so, because nothing in it is new. But a
 * webhook about a whole connection is news each time, and so is a deletion, which the service may have announced before it was done. An entry that
 * found no connection the first time may find one now. A deletion that does not name its record requests a reconcile in the same commit, because its
 * entry is closed and not read again.
 *
 * `asText` is for a body that Postgres refuses as JSON: its text is stored. So is that of a body whose numbers would be too long with all their
 * digits, which an erasure reads.
 */
export async function storeWebhooks(
  { pool }: Pick<Warehouse, 'pool'>,
  input: StoreInput,
): Promise<WebhooksStored> {
  const mayBeNameless = input.webhooks.some(
    ({ resource, recordId }) => resource !== null && recordId === null,
  );
  // A statement that commits itself takes one round trip to the database instead of three.
  return mayBeNameless ? inTransaction(pool, ({ client }) => store(client, input)) : store(pool, input);
}

interface StoreInput {
  readonly apiAddress: string;
  readonly webhooks: readonly WebhookToStore[];
  readonly asText?: boolean;
}

async function store(
  client: PoolClient | Warehouse['pool'],
  { apiAddress, webhooks, asText = false }: StoreInput,
): Promise<WebhooksStored> {
  const deliveries = new Map<string, number>();
  for (const { digest } of webhooks) deliveries.set(digest, (deliveries.get(digest) ?? 0) + 1);
  const distinct = [...new Map(webhooks.map((webhook) => [webhook.digest, webhook])).values()];
  const { rows } = await client.query<{ due: string[]; unknown_data_ready: boolean; nameless: Nameless[] }>({
    name: 'store webhooks',
    text: storeSql,
    values: [
      apiAddress,
      distinct.map(({ text }) => asText || problemOfNumbers(text) !== undefined),
      distinct.map(({ digest }) => digest),
      distinct.map(({ digest }) => deliveries.get(digest)),
      distinct.map(({ serviceConnectionId }) => serviceConnectionId),
      distinct.map(({ type }) => type),
      distinct.map(({ code }) => code),
      distinct.map(({ resource }) => resource?.name ?? null),
      distinct.map(({ recordId }) => recordId),
      distinct.map(({ version }) => version),
      distinct.map(({ text }) => text),
    ],
  });
  const { due = [], unknown_data_ready: isUnknownDataReady = false, nameless = [] } = rows[0] ?? {};
  for (const { connectionId, resource } of nameless)
    await wantReconcile(client, { connectionId, resource: resourceNamed(resource) });
  return { due, isUnknownDataReady };
}

/** A deletion that does not name its record. */
interface Nameless {
  readonly connectionId: string;
  readonly resource: string;
}

const isNewsAgain = `(had.resource is null or had.connection_id is null or ${isDeletion('had')})`;

/** Ordered by digest, so that two statements that store the same webhooks cannot deadlock. */
const storeSql = `
  with sent as (
    select webhook.*, c.connection_id, case
        when c.connection_id is null and (type = 'CONNECTION' or resource is not null)
          then 'no connection here has this identity'
        when type = 'CONNECTION' and code = 'INITIAL_UPDATE' then null
        when resource is null then 'nothing of it is copied'
        when record_id is null then 'it does not say which record, or by an id that is no key'
      end as ignored
    from unnest(
      $3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::timestamptz[],
      $11::text[], $2::boolean[]
    ) as webhook (
      digest, deliveries, service_connection_id, type, code, resource, record_id, version, body, as_text
    )
    left join sync.connections c
      on c.api_address = $1 and c.service_connection_id = webhook.service_connection_id
  ), stored as (
    insert into sync.webhook_inbox as had (
      digest, deliveries, service_connection_id, connection_id, type, code, resource, record_id, version, payload,
      status, outcome, closed_at
    )
    select digest, deliveries, service_connection_id, connection_id, type, code, resource, record_id, version,
      case when as_text then to_jsonb(body) else body::jsonb end,
      case when ignored is null then 'waiting' else 'ignored' end, ignored,
      case when ignored is not null then clock_timestamp() end
    from sent
    order by digest
    on conflict (digest) do update set
      deliveries = had.deliveries + excluded.deliveries,
      last_received_at = clock_timestamp(),
      connection_id = coalesce(excluded.connection_id, had.connection_id),
      -- A release before this one may not have known what it is about.
      resource = coalesce(had.resource, excluded.resource),
      record_id = coalesce(had.record_id, excluded.record_id),
      version = coalesce(had.version, excluded.version),
      (status, outcome, closed_at, tries, try_after) = (
        select had.status, had.outcome, had.closed_at, had.tries, had.try_after
        where not (excluded.status = 'waiting' and ${isNewsAgain})
        union all
        select 'waiting', null, null, 0, null
        where excluded.status = 'waiting' and ${isNewsAgain}
      )
    returning connection_id, status, code, resource, record_id
  )
  select
    coalesce(jsonb_agg(distinct jsonb_build_object('connectionId', connection_id, 'resource', resource)) filter (
      where connection_id is not null and resource is not null and record_id is null and ${isDeletion('stored')}
    ), '[]') as nameless,
    coalesce(array_agg(distinct c.connection_id) filter (
      where stored.status = 'waiting' and c.paused_at is null and coalesce(c.webhooks_after <= now(), true)
    ), '{}') as due,
    coalesce(bool_or(stored.connection_id is null and stored.code = 'INITIAL_UPDATE'), false) as unknown_data_ready
  from stored
  left join sync.connections c using (connection_id)`;
