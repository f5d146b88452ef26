-- What settled bills and credits, signed as in int_ap_documents__settled: undoing it adds the amount to what is open.
with bill_allocations as (
    select * from {{ ref('int_bill_allocations__unioned') }}
),

credit_allocations as (
    select * from {{ ref('stg_finance__bill_credit_memo_allocations') }}
),

signed as (
    select
        connection_id,
        'bill' as document_type,
        bill_id as document_id,
        allocated_date,
        allocated_amount
    from bill_allocations
    union all
    select
        connection_id,
        'vendor_credit' as document_type,
        bill_credit_memo_id as document_id,
        allocated_date,
        -allocated_amount as allocated_amount
    from credit_allocations
)

select * from signed
