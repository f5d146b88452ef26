-- Every list that is read for a connection, whether or not a run has read it yet. A stalled list was read to its end without
-- showing what the service is known to have: it is known up to its watermark, and not at all without one.
with source as (
    select * from {{ source('finance', 'streams') }}
),

connections as (
    select * from {{ ref('stg_finance__connections') }}
),

streams (stream, resource) as (
    values
    {%- for stream, resource in daybook.copied_streams().items() %}
        ('{{ stream }}', '{{ resource }}'){{ "," if not loop.last }}
    {%- endfor %}
),

in_this_world as (
    select
        connections.connection_id,
        streams.stream,
        streams.resource,
        coalesce(source.capability, 'unknown') as capability,
        source.watermark,
        source.stalled_at is not null as is_stalled,
        case
            when source.stalled_at is null or source.last_success_at < source.watermark then source.last_success_at
            else source.watermark
        end as last_success_at,
        source.last_reconcile_at
    from connections
    cross join streams
    left join source on connections.connection_id = source.connection_id and streams.stream = source.stream
)

select * from in_this_world
