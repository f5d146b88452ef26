with source as (
    select * from {{ source('finance', 'streams') }}
),

connections as (
    select * from {{ ref('stg_finance__connections') }}
),

in_this_world as (
    select
        connection_id,
        stream,
        resource,
        capability,
        watermark,
        last_success_at,
        last_reconcile_at
    from source
    where connection_id in (select connections.connection_id from connections)
)

select * from in_this_world
