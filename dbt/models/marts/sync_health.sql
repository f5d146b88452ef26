with connections as (
    select * from {{ ref('stg_finance__connections') }}
),

streams as (
    select * from {{ ref('int_streams__offered') }}
),

deleted as (
    select
        connection_id,
        resource,
        count(*) as deleted_records
    from {{ ref('stg_finance__deleted_records') }}
    group by connection_id, resource
),

quarantined as (
    select * from {{ ref('stg_finance__quarantine_counts') }}
),

{% set resources = {
    'bills': 'stg_finance__bills', 'expenses': 'stg_finance__expenses',
    'bill_credit_memos': 'stg_finance__bill_credit_memos', 'customers': 'stg_finance__customers',
    'items': 'stg_finance__items'
} -%}
counted as (
    {% for resource, model in resources.items() -%}
        select
            connection_id,
            '{{ resource }}' as resource,
            count(*) as record_count
        from {{ ref(model) }}
        group by connection_id
        union all
    {% endfor -%}
    select
        connection_id,
        'subscriptions' as resource,
        count(*) as record_count
    from {{ ref('stg_finance__subscriptions') }}
    group by connection_id
),

-- A resource that is read in two lists is as fresh as the older of them. A list that is no longer offered is as fresh as its last
-- reading.
resourced as (
    select
        connection_id,
        resource,
        case
            when bool_and(capability = 'unsupported') then 'unsupported'
            when bool_or(capability = 'supported') then 'supported'
            else 'unknown'
        end as capability,
        bool_or(was_offered) as was_offered,
        case
            when count(*) filter (where was_offered and last_success_at is null) = 0
                then min(last_success_at) filter (where was_offered)
        end as last_success_at,
        bool_or(is_stalled) filter (where was_offered) as is_stalled,
        min(last_reconcile_at) filter (where was_offered) as last_reconcile_at,
        case
            when count(*) filter (where was_offered and last_success_at is null) = 0
                then min(watermark) filter (where was_offered)
        end as watermark
    from streams
    group by connection_id, resource
),

final as (
    select
        resourced.connection_id,
        resourced.resource,
        resourced.capability,
        coalesce(counted.record_count, 0) as record_count,
        coalesce(deleted.deleted_records, 0) as deleted_records,
        coalesce(quarantined.open_entries, 0) as quarantined_records,
        resourced.watermark,
        resourced.last_success_at,
        resourced.last_reconcile_at,
        {{ daybook.days_between(daybook.reporting_day_of('resourced.last_success_at'), daybook.as_of_date()) }}
            as days_since_success,
        case
            when not resourced.was_offered then 'unsupported'
            when resourced.is_stalled then 'stalled'
            when resourced.last_success_at is null then 'never_complete'
            when {{ daybook.reporting_day_of('resourced.last_success_at') }} >= {{ daybook.as_of_date() }} - 1 then 'fresh'
            else 'stale'
        end as freshness_status,
        {{ daybook.as_of_date() }} as as_of_date
    from resourced
    inner join connections on resourced.connection_id = connections.connection_id
    left join counted on resourced.connection_id = counted.connection_id and resourced.resource = counted.resource
    left join deleted on resourced.connection_id = deleted.connection_id and resourced.resource = deleted.resource
    left join quarantined
        on resourced.connection_id = quarantined.connection_id and resourced.resource = quarantined.resource
)

select * from final
