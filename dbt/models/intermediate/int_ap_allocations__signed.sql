-- What settled bills and credits, signed as in int_ap_documents__settled: undoing it adds the amount to what is open. A credit
-- that is applied before it, or the bill, is issued counts from the day on which both are there. One that only one of the two
-- tells of counts on both: what settles the one settles the other.
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

applications as (
    select
        connection_id,
        told_by as document_type,
        document_id,
        bill_id,
        credit_id,
        position,
        counted_date,
        allocated_amount,
        false as is_told_by_other
    from credit_links
    union all
    select
        connection_id,
        case told_by when 'bill' then 'vendor_credit' else 'bill' end as document_type,
        case told_by when 'bill' then credit_id else bill_id end as document_id,
        bill_id,
        credit_id,
        cast(null as bigint) as position,
        counted_date,
        allocated_amount,
        true as is_told_by_other
    from credit_links
    where is_told_alone
),

signed as (
    select
        connection_id,
        'bill' as document_type,
        bill_id as document_id,
        'payment' as source_type,
        position,
        allocated_date as counted_date,
        allocated_amount,
        false as is_told_by_other
    from payments
    union all
    select
        applications.connection_id,
        applications.document_type,
        applications.document_id,
        'credit' as source_type,
        applications.position,
        case
            when applications.counted_date is null or bills.bill_id is null or credits.bill_credit_memo_id is null
                then applications.counted_date
            else greatest(applications.counted_date, bills.issue_date, credits.issue_date)
        end as counted_date,
        cast(
            case
                when applications.document_type = 'bill' then applications.allocated_amount
                else -applications.allocated_amount
            end
            as numeric(38, 9)
        ) as allocated_amount,
        applications.is_told_by_other
    from applications
    left join bills on applications.connection_id = bills.connection_id and applications.bill_id = bills.bill_id
    left join credits
        on
            applications.connection_id = credits.connection_id
            and applications.credit_id = credits.bill_credit_memo_id
)

select * from signed
