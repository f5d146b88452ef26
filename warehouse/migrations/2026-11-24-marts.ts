import { sql, type Kysely } from 'kysely';

/** What the finance models need: their schemas, and the past of subscriptions as rows, for Postgres and for snapshots alike. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(marts).execute(db);
}

const marts = `
  create schema if not exists marts;
  comment on schema marts is 'Daybook: finance models for people; views that always show the last complete build';

  create view history.subscription_item_versions as
    select
      v.connection_id,
      v.record_id as subscription_id,
      item.position,
      v.recorded_at,
      v.op,
      nullif(version.payload ->> 'status', '') as status,
      nullif(version.payload ->> 'platform_customer_id', '') as platform_customer_id,
      nullif(nullif(version.payload ->> 'iso_currency_code', ''), 'null') as iso_currency_code,
      nullif(item.payload ->> 'interval', '') as "interval",
      (item.payload ->> 'interval_count')::numeric::bigint as interval_count,
      (item.payload ->> 'quantity')::numeric as quantity,
      (item.payload ->> 'amount')::numeric as amount,
      (item.payload ->> 'unit_amount')::numeric as unit_amount
    from history.record_versions v
    cross join lateral (select case when v.op = 'upsert' then v.payload end as payload) as version
    left join lateral (
      select place - 1 as position, element as payload
      from jsonb_array_elements(
        case when jsonb_typeof(version.payload -> 'items') = 'array' then version.payload -> 'items' else '[]' end
      ) with ordinality as listed (element, place)
    ) as item on true
    where v.resource = 'subscriptions';
  comment on view history.subscription_item_versions is
    'One row per item of every version of a subscription; a version without items and a deletion have one row without position';
  comment on column history.subscription_item_versions.connection_id is 'Connection of the subscription';
  comment on column history.subscription_item_versions.subscription_id is 'Service ID of the subscription';
  comment on column history.subscription_item_versions.position is 'Place of the item in the list the API sent, from 0';
  comment on column history.subscription_item_versions.recorded_at is 'When the warehouse learned of the version, by the database clock';
  comment on column history.subscription_item_versions.op is 'upsert or delete';
  comment on column history.subscription_item_versions.status is 'active, in_trial, canceled, paused, unknown; new values may appear';
  comment on column history.subscription_item_versions.platform_customer_id is 'ID of the customer on the platform';
  comment on column history.subscription_item_versions.iso_currency_code is 'Currency of every amount of the subscription (ISO 4217)';
  comment on column history.subscription_item_versions."interval" is 'Unit of the billing period';
  comment on column history.subscription_item_versions.interval_count is 'How many intervals one billing period has';
  comment on column history.subscription_item_versions.quantity is 'How many are subscribed to';
  comment on column history.subscription_item_versions.amount is 'Price of one billing period, in iso_currency_code';
  comment on column history.subscription_item_versions.unit_amount is 'Price of one, in iso_currency_code';
`;
