import { sql, type Kysely } from 'kysely';

/**
 * What a version of a subscription says beside its items is read once. It was read again beside each of them, out of the whole document: the
 * 20,000 items of one subscription were not read after seven minutes, by a build of the marts; an export reads the same view.
 */
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
      version.status,
      version.platform_customer_id,
      version.iso_currency_code,
      nullif(item.payload ->> 'interval', '') as "interval",
      (item.payload ->> 'interval_count')::numeric::bigint as interval_count,
      (item.payload ->> 'quantity')::numeric as quantity,
      (item.payload ->> 'amount')::numeric as amount,
      (item.payload ->> 'unit_amount')::numeric as unit_amount
    from history.record_versions v
    cross join lateral (
      select
        nullif(told.payload ->> 'status', '') as status,
        nullif(told.payload ->> 'platform_customer_id', '') as platform_customer_id,
        nullif(nullif(told.payload ->> 'iso_currency_code', ''), 'null') as iso_currency_code,
        case
          when jsonb_typeof(told.payload -> 'items') = 'array' then told.payload -> 'items'
          when v.op = 'upsert' then '[null]'
          else '[]'
        end as items
      from (select case when v.op = 'upsert' then v.payload end as payload) as told
      -- Keeps this a step of its own: the planner would put its expressions beside each item again.
      offset 0
    ) as version
    left join lateral (
      select place - 1 as position, element as payload
      from jsonb_array_elements(version.items) with ordinality as listed (element, place)
    ) as item on true
    where v.resource = 'subscriptions';
`;
