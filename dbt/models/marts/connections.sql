with connections as (
    select * from {{ ref('stg_finance__connections') }}
),

settled as (
    select * from {{ ref('int_connections__settled') }}
),

-- A list that the platform no longer offers is as fresh as its last reading; a list that was never offered has nothing.
streams as (
    select * from {{ ref('int_streams__offered') }}
    where was_offered
),

reads as (
    select * from {{ ref('int_connections__read') }}
),

-- As fresh as the stalest stream; not fresh at all while a stream was never read, or hides data that the service has.
successes as (
    select
        connection_id,
        case when count(*) = count(last_success_at) then min(last_success_at) end as last_success_at,
        bool_or(is_stalled) as is_stalled,
        -- Subscriptions have no time of the service's last sync.
        max(case when stream <> 'subscriptions' then watermark end) as newest_synced_at
    from streams
    group by connection_id
),

-- Reads without new data succeed, whether a company is quiet or the service has lost its link to the platform.
quiet as (
    select
        connection_id,
        {{ daybook.days_between(daybook.reporting_day_of('newest_synced_at'), daybook.as_of_date()) }} as days_since_newest
    from successes
),

final as (
    select
        connections.connection_id,
        connections.name,
        connections.platform,
        connections.org_id,
        settled.base_currency,
        settled.rates_multiply,
        connections.created_at,
        successes.last_success_at,
        {{ daybook.days_between(daybook.reporting_day_of('successes.last_success_at'), daybook.as_of_date()) }}
            as days_since_success,
        case
            when successes.is_stalled then 'stalled'
            when successes.last_success_at is null then 'never_complete'
            when {{ daybook.reporting_day_of('successes.last_success_at') }} >= {{ daybook.as_of_date() }} - 1 then 'fresh'
            else 'stale'
        end as freshness_status,
        successes.newest_synced_at,
        quiet.days_since_newest,
        coalesce(quiet.days_since_newest > {{ var('daybook_quiet_days', 7) }}, false) as is_quiet,
        reads.read_until as spend_read_until,
        reads.is_spend_offered,
        {{ daybook.as_of_date() }} as as_of_date
    from connections
    inner join settled on connections.connection_id = settled.connection_id
    left join reads on connections.connection_id = reads.connection_id
    left join successes on connections.connection_id = successes.connection_id
    left join quiet on connections.connection_id = quiet.connection_id
)

select * from final
