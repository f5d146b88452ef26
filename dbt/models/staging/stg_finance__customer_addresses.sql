with source as (
    select * from {{ source('finance', 'customer_addresses') }}
),

connections as (
    select * from {{ ref('stg_finance__connections') }}
),

in_this_world as (
    select
        connection_id,
        customer_id,
        cast(position as bigint) as position,
        type,
        address1,
        address2,
        city,
        country,
        postal_code,
        region
    from source
    where connection_id in (select connections.connection_id from connections)
)

select * from in_this_world
