-- Subscriptions that existed before the first observed month, and that appeared in history after it: the service copied them
-- later, or they could not land until somebody corrected them. Nobody knows their earlier revenue.
with months as (
    select * from {{ ref('int_subscription_months__observed') }}
),

versions as (
    select * from {{ ref('int_subscription_versions__owned') }}
    where op = 'upsert'
),

first_recordings as (
    select
        connection_id,
        subscription_id,
        min(recorded_at) as recorded_at
    from versions
    group by connection_id, subscription_id
),

creations as (
    select
        connection_id,
        subscription_id,
        created_at
    from {{ ref('stg_finance__subscriptions') }}
    union all
    select
        connection_id,
        subscription_id,
        created_at
    from {{ ref('stg_finance__deleted_subscriptions') }}
),

final as (
    select
        versions.connection_id,
        versions.subscription_id,
        versions.platform_customer_id,
        versions.status
    from versions
    inner join first_recordings
        on
            versions.connection_id = first_recordings.connection_id
            and versions.subscription_id = first_recordings.subscription_id
            and versions.recorded_at = first_recordings.recorded_at
    inner join creations
        on versions.connection_id = creations.connection_id and versions.subscription_id = creations.subscription_id
    inner join months on versions.connection_id = months.connection_id and months.is_baseline
    where
        versions.first_month > months.month
        and {{ daybook.day_of('creations.created_at') }} < months.month
)

select * from final
