with source as (
    select * from {{ source('finance', 'bill_credit_memo_allocations') }}
),

connections as (
    select * from {{ ref('stg_finance__connections') }}
),

in_this_world as (
    select
        connection_id,
        bill_credit_memo_id,
        cast(position as bigint) as position,
        linked_id,
        allocated_date,
        {{ daybook.money('allocated_amount') }} as allocated_amount
    from source
    where connection_id in (select connections.connection_id from connections)
)

select * from in_this_world
