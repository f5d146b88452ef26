-- Whose each version of a subscription is, and at the ends of which months it stands: from the first on, until the next version
-- counts. What was recorded after the day until which its month was read counts in the next month: its own is told as of that
-- day. A version that was replaced in the month in which it counts stands at no end.
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

-- This evening it may be the next month in UTC already: what came since is of this month, if that was read on its last day.
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

-- How many versions name a customer, from this one on and up to this one: those with one count have one of them among them.
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

-- A version that names no customer is of the one that is named next, else of the one that was named last: to be named is no sale.
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
            -- Nobody knows that two subscriptions without a customer have the same one.
            '(none) ' || subscription_id
        ) as platform_customer_id,
        first_month,
        next_month
    from periods
)

select * from owned
