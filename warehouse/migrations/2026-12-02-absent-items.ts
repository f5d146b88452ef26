import { sql, type Kysely } from 'kysely';

/** A subscription that came without a list of items may have any: that is not an empty list. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(itemVersions).execute(db);
}

const itemVersions = `
  create or replace view history.subscription_item_versions as
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
        case
          when jsonb_typeof(version.payload -> 'items') = 'array' then version.payload -> 'items'
          when v.op = 'upsert' then '[null]'
          else '[]'
        end
      ) with ordinality as listed (element, place)
    ) as item on true
    where v.resource = 'subscriptions';
  comment on view history.subscription_item_versions is
    'One row per item of every version of a subscription; a version that names no list of items has one of which nothing is known, one with an empty list and a deletion have one row without position';
`;
