-- The customer of each version of a subscription, and the month ends at which it is current: from its first month on, until the
-- next version counts. A version recorded after the day up to which its month was read counts in the next month, because its own
-- month is shown as of that day. A version replaced in the month in which it counts is current at no month end.
with months as (
    select * from {{ ref('int_subscription_months__observed') }}
),

item_versions as (
    select * from {{ ref('stg_finance__subscription_item_versions') }}
    where {{ daybook.reporting_day_of('recorded_at') }} <= {{ daybook.as_of_date() }}
),

recordings as (
    select
        connection_id,
        subscription_id,
        recorded_at,
        {{ daybook.recorded_month('recorded_at') }} as recorded_month,
        max(op) as op,
        max(case when op = 'upsert' then status end) as status,
        max(case when op = 'upsert' then platform_customer_id end) as platform_customer_id
    from item_versions
    group by connection_id, subscription_id, recorded_at
),

-- This evening it may already be the next month in UTC. Versions recorded since count in this month, if it was read on its last
-- day.
counted as (
    select
        recordings.connection_id,
        recordings.subscription_id,
        recordings.recorded_at,
        recordings.op,
        recordings.status,
        recordings.platform_customer_id,
        case
            when
                months.observed_until < least(
                    {{ daybook.day_of('recordings.recorded_at') }}, {{ daybook.month_end('months.month') }}
                )
                then {{ daybook.add_months('recordings.recorded_month', 1) }}
            else recordings.recorded_month
        end as first_month
    from recordings
    left join months on recordings.connection_id = months.connection_id and recordings.recorded_month = months.month
),

-- The number of versions that name a customer, from this one on and up to this one. Versions with the same count share one such
-- version.
periods as (
    select
        *,
        lead(first_month) over (partition by connection_id, subscription_id order by recorded_at) as next_month,
        count(platform_customer_id) over (
            partition by connection_id, subscription_id order by recorded_at desc rows unbounded preceding
        ) as named_from_here,
        count(platform_customer_id) over (
            partition by connection_id, subscription_id order by recorded_at rows unbounded preceding
        ) as named_so_far
    from counted
),

-- A version without a customer gets the next customer that is named, else the last one before: naming a customer is no sale.
owned as (
    select
        connection_id,
        subscription_id,
        recorded_at,
        op,
        status,
        coalesce(
            max(platform_customer_id) over (partition by connection_id, subscription_id, named_from_here),
            max(platform_customer_id) over (partition by connection_id, subscription_id, named_so_far),
            -- Nobody knows whether two subscriptions without a customer have the same one.
            '(none) ' || subscription_id
        ) as platform_customer_id,
        first_month,
        next_month
    from periods
)

select * from owned
