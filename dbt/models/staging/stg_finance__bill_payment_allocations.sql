with source as (
    select * from {{ source('finance', 'bill_payment_allocations') }}
),

connections as (
    select * from {{ ref('stg_finance__connections') }}
),

in_this_world as (
    select
        connection_id,
        bill_id,
        {{ daybook.allocation_columns() }}
    from source
    where connection_id in (select connections.connection_id from connections)
)

select * from in_this_world
