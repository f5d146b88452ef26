with source as (
    select * from {{ source('finance', 'bill_credit_memo_lines') }}
),

connections as (
    select * from {{ ref('stg_finance__connections') }}
),

in_this_world as (
    select
        connection_id,
        bill_credit_memo_id,
        cast(position as bigint) as position,
        account_id,
        class_id,
        customer_id,
        department_id,
        location_id,
        tax_rate_id,
        description,
        {{ daybook.money('discount_amount') }} as discount_amount,
        {{ daybook.money('discount_percentage') }} as discount_percentage,
        {{ daybook.money('sub_total') }} as sub_total,
        {{ daybook.money('tax_amount') }} as tax_amount,
        {{ daybook.money('total_amount') }} as total_amount,
        item_id,
        {{ daybook.money('item_quantity') }} as item_quantity,
        {{ daybook.rate('item_unit_amount') }} as item_unit_amount
    from source
    where connection_id in (select connections.connection_id from connections)
)

select * from in_this_world
