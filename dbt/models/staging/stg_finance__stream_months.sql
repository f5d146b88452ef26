with captured as (
    {{ daybook.stream_months(source('finance', 'stream_months'), ref('stg_finance__runs')) }}
),

connections as (
    select * from {{ ref('stg_finance__connections') }}
),

in_this_world as (
    select
        connection_id,
        stream,
        month,
        outcome,
        complete_until
    from captured
    where connection_id in (select connections.connection_id from connections)
)

select * from in_this_world
