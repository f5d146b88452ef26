-- What settled bills and credits, signed as in int_ap_documents__settled: undoing it adds the amount to what is open. A credit
-- that is applied before it, or the bill, is issued counts from the day on which both are there.
with payments as (
    select * from {{ ref('stg_finance__bill_payment_allocations') }}
),

credit_links as (
    select * from {{ ref('int_credit_links__dated') }}
),

bills as (
    select * from {{ ref('stg_finance__bills') }}
),

credits as (
    select * from {{ ref('stg_finance__bill_credit_memos') }}
),

signed as (
    select
        connection_id,
        'bill' as document_type,
        bill_id as document_id,
        'payment' as source_type,
        position,
        allocated_date as counted_date,
        allocated_amount
    from payments
    union all
    select
        credit_links.connection_id,
        credit_links.told_by as document_type,
        credit_links.document_id,
        'credit' as source_type,
        credit_links.position,
        case
            when credit_links.counted_date is null or bills.bill_id is null or credits.bill_credit_memo_id is null
                then credit_links.counted_date
            else greatest(credit_links.counted_date, bills.issue_date, credits.issue_date)
        end as counted_date,
        cast(
            case when credit_links.told_by = 'bill' then credit_links.allocated_amount else -credit_links.allocated_amount end
            as numeric(38, 9)
        ) as allocated_amount
    from credit_links
    left join bills on credit_links.connection_id = bills.connection_id and credit_links.bill_id = bills.bill_id
    left join credits
        on
            credit_links.connection_id = credits.connection_id
            and credit_links.credit_id = credits.bill_credit_memo_id
)

select * from signed
