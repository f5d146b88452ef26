with source as (
    select * from {{ source('finance', 'items') }}
),

connections as (
    select * from {{ ref('stg_finance__connections') }}
),

-- Before any join: DuckDB reads long texts a few rows at a time, and a join puts 2,048 rows together.
shortened as (
    select
        connection_id,
        id as item_id,
        left(platform_id, 2000) as platform_id,
        status,
        type,
        left(code, 1000) as code,
        left(name, 1000) as name,
        {{ daybook.money('quantity_on_hand') }} as quantity_on_hand,
        left(bill_description, 4000) as bill_description,
        {{ daybook.rate('bill_unit_price') }} as bill_unit_price,
        left(invoice_description, 4000) as invoice_description,
        {{ daybook.rate('invoice_unit_price') }} as invoice_unit_price,
        updated_at,
        last_synced_at
    from source
),

in_this_world as (
    select * from shortened
    where connection_id in (select connections.connection_id from connections)
)

select * from in_this_world
