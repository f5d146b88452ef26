with source as (
    select * from {{ source('finance', 'deleted_records') }}
),

connections as (
    select * from {{ ref('stg_finance__connections') }}
),

in_this_world as (
    select
        connection_id,
        resource,
        id as record_id,
        deleted_at,
        source
    from source
    where connection_id in (select connections.connection_id from connections)
)

select * from in_this_world
