with source as (
    select * from {{ source('finance', 'quarantine_counts') }}
),

connections as (
    select * from {{ ref('stg_finance__connections') }}
),

in_this_world as (
    select
        connection_id,
        resource,
        open_entries
    from source
    where connection_id in (select connections.connection_id from connections)
)

select * from in_this_world
