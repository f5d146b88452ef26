with source as (
    select * from {{ source('finance', 'items') }}
),

connections as (
    select * from {{ ref('stg_finance__connections') }}
),

in_this_world as (
    select
        connection_id,
        id as item_id,
        platform_id,
        status,
        type,
        code,
        name,
        {{ daybook.money('quantity_on_hand') }} as quantity_on_hand,
        bill_description,
        {{ daybook.rate('bill_unit_price') }} as bill_unit_price,
        invoice_description,
        {{ daybook.rate('invoice_unit_price') }} as invoice_unit_price,
        updated_at,
        last_synced_at
    from source
    where connection_id in (select connections.connection_id from connections)
)

select * from in_this_world
