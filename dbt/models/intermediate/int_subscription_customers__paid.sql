-- The times at which a customer paid, as far as history knows: from all versions of the subscriptions, whether or not they were
-- current at a month's end.
with months as (
    select * from {{ ref('int_subscription_months__observed') }}
),

-- Includes versions with an empty list of items: platforms may empty it when they cancel a subscription.
versions as (
    select * from {{ ref('int_subscription_versions__owned') }}
    where op = 'upsert'
),

item_versions as (
    select * from {{ ref('int_subscription_item_versions__priced') }}
),

-- The items of a subscription are paid together.
priced_versions as (
    select
        connection_id,
        subscription_id,
        recorded_at,
        platform_customer_id,
        first_month,
        {{ daybook.whole_sum('mrr') }} as mrr
    from item_versions
    group by connection_id, subscription_id, recorded_at, platform_customer_id, first_month
),

-- In any currency. If the revenue is not known, nobody knows whether it was paid.
payments as (
    select
        connection_id,
        platform_customer_id,
        min(case when mrr > 0 then first_month end) as first_paid_month,
        min(case when mrr is null then first_month end) as first_unknown_month
    from priced_versions
    group by connection_id, platform_customer_id
),

-- A subscription in trial then had not been paid before.
late_customers as (
    select distinct
        connection_id,
        platform_customer_id
    from {{ ref('int_subscriptions__learned_late') }}
    where coalesce(status <> 'in_trial', true)
),

baselines as (
    select
        connection_id,
        month as baseline_month
    from months
    where is_baseline
),

customers as (
    select
        connection_id,
        platform_customer_id,
        min(first_month) as first_month,
        min(case when coalesce(status not in ('active', 'in_trial'), true) then first_month end) as first_lapsed_month
    from versions
    group by connection_id, platform_customer_id
),

final as (
    select
        customers.connection_id,
        customers.platform_customer_id,
        payments.first_paid_month,
        payments.first_unknown_month,
        -- A subscription that is neither active nor in trial when history begins, or when its customer is first seen, was paid
        -- before that, or never.
        coalesce(
            customers.first_lapsed_month
            <= greatest(customers.first_month, coalesce(baselines.baseline_month, customers.first_month)),
            false
        ) as is_first_seen_lapsed,
        late_customers.platform_customer_id is not null as is_learned_late
    from customers
    left join payments
        on
            customers.connection_id = payments.connection_id
            and customers.platform_customer_id = payments.platform_customer_id
    left join late_customers
        on
            customers.connection_id = late_customers.connection_id
            and customers.platform_customer_id = late_customers.platform_customer_id
    left join baselines on customers.connection_id = baselines.connection_id
)

select * from final
