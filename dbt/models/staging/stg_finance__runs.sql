with source as (
    select * from {{ source('finance', 'runs') }}
),

connections as (
    select * from {{ ref('stg_finance__connections') }}
),

in_this_world as (
    select
        run_id,
        connection_id,
        kind,
        status,
        started_at,
        finished_at
    from source
    where connection_id in (select connections.connection_id from connections)
)

select * from in_this_world
