with source as (
    select * from {{ source('finance', 'customer_addresses') }}
),

connections as (
    select * from {{ ref('stg_finance__connections') }}
),

-- Before any join: DuckDB reads long texts a few rows at a time, and a join puts 2,048 rows together.
shortened as (
    select
        connection_id,
        customer_id,
        cast(position as bigint) as position,
        type,
        left(address1, 250) as address1,
        left(address2, 250) as address2,
        left(city, 250) as city,
        left(country, 250) as country,
        left(postal_code, 250) as postal_code,
        left(region, 250) as region
    from source
),

in_this_world as (
    select * from shortened
    where connection_id in (select connections.connection_id from connections)
)

select * from in_this_world
