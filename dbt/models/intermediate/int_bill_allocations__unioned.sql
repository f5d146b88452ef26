-- Payments and credits that settle bills, according to the bills.
with payments as (
    select * from {{ ref('stg_finance__bill_payment_allocations') }}
),

credits as (
    select * from {{ ref('stg_finance__bill_credit_allocations') }}
),

unioned as (
    select
        connection_id,
        bill_id,
        'payment' as source_type,
        position,
        linked_id,
        allocated_date,
        allocated_amount
    from payments
    union all
    select
        connection_id,
        bill_id,
        'credit' as source_type,
        position,
        linked_id,
        allocated_date,
        allocated_amount
    from credits
)

select * from unioned
