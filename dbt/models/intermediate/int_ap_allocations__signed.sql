-- What settled bills and credits, signed as in int_ap_documents__settled: undoing it adds the amount to what is open.
with payments as (
    select * from {{ ref('stg_finance__bill_payment_allocations') }}
),

bill_credits as (
    select * from {{ ref('stg_finance__bill_credit_allocations') }}
),

credit_allocations as (
    select * from {{ ref('stg_finance__bill_credit_memo_allocations') }}
),

credit_links as (
    select * from {{ ref('int_credit_links__dated') }}
),

signed as (
    select
        connection_id,
        'bill' as document_type,
        bill_id as document_id,
        allocated_date as counted_date,
        allocated_amount
    from payments
    union all
    select
        bill_credits.connection_id,
        'bill' as document_type,
        bill_credits.bill_id as document_id,
        credit_links.counted_date,
        bill_credits.allocated_amount
    from bill_credits
    inner join credit_links
        on
            bill_credits.connection_id = credit_links.connection_id
            and credit_links.told_by = 'bill'
            and bill_credits.bill_id = credit_links.document_id
            and bill_credits.position = credit_links.position
    union all
    select
        credit_allocations.connection_id,
        'vendor_credit' as document_type,
        credit_allocations.bill_credit_memo_id as document_id,
        credit_links.counted_date,
        -credit_allocations.allocated_amount as allocated_amount
    from credit_allocations
    inner join credit_links
        on
            credit_allocations.connection_id = credit_links.connection_id
            and credit_links.told_by = 'vendor_credit'
            and credit_allocations.bill_credit_memo_id = credit_links.document_id
            and credit_allocations.position = credit_links.position
)

select * from signed
