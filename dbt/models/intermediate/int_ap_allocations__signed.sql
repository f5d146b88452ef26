-- The settlements of bills and credits, signed as in int_ap_documents__settled: undoing one adds its amount to what is open. A
-- credit applied before it or the bill is issued counts from the day on which both exist. An application that only one of the two
-- documents tells counts on both, because it settles both. On the silent one it counts up to the amount that this document itself
-- leaves unexplained: it tells the rest in another way, for example as a payment.
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
),

own as (
    select
        connection_id,
        document_type,
        document_id,
        {{ daybook.whole_sum('allocated_amount') }} as own_amount
    from signed
    where not is_told_by_other
    group by connection_id, document_type, document_id
),

told as (
    select
        connection_id,
        document_type,
        document_id,
        {{ daybook.whole_sum('allocated_amount') }} as told_amount,
        case when count(*) = count(counted_date) and min(counted_date) = max(counted_date) then min(counted_date) end as only_date
    from signed
    where is_told_by_other
    group by connection_id, document_type, document_id
),

documents as (
    select
        connection_id,
        'bill' as document_type,
        bill_id as document_id,
        currency_code,
        total_amount - amount_due as settled_amount
    from bills
    union all
    select
        connection_id,
        'vendor_credit' as document_type,
        bill_credit_memo_id as document_id,
        currency_code,
        -(total_amount - remaining_amount) as settled_amount
    from credits
),

unexplained as (
    select
        told.connection_id,
        told.document_type,
        told.document_id,
        told.told_amount,
        told.only_date,
        documents.settled_amount - case when own.document_id is null then 0 else own.own_amount end as left_amount,
        {{ daybook.noise('documents.currency_code') }} as noise
    from told
    inner join documents
        on
            told.connection_id = documents.connection_id
            and told.document_type = documents.document_type
            and told.document_id = documents.document_id
    left join own
        on
            told.connection_id = own.connection_id
            and told.document_type = own.document_type
            and told.document_id = own.document_id
),

judged as (
    select
        *,
        case
            when left_amount is null then 'unknown'
            when abs(left_amount) <= noise then 'none'
            when told_amount is null then 'all'
            when {{ daybook.sign_of('told_amount') }} <> {{ daybook.sign_of('left_amount') }} then 'none'
            when abs(told_amount) - abs(left_amount) <= noise then 'all'
            else 'part'
        end as counts
    from unexplained
),

-- If a part may count on several days, nobody knows on which.
counted as (
    select * from signed
    where not is_told_by_other
    union all
    select
        signed.connection_id,
        signed.document_type,
        signed.document_id,
        signed.source_type,
        signed.position,
        signed.counted_date,
        cast(case when judged.counts = 'all' then signed.allocated_amount end as numeric(38, 9)) as allocated_amount,
        signed.is_told_by_other
    from signed
    inner join judged
        on
            signed.connection_id = judged.connection_id
            and signed.document_type = judged.document_type
            and signed.document_id = judged.document_id
    where signed.is_told_by_other and judged.counts in ('unknown', 'all')
    union all
    select
        connection_id,
        document_type,
        document_id,
        'credit' as source_type,
        cast(null as bigint) as position,
        only_date as counted_date,
        cast(left_amount as numeric(38, 9)) as allocated_amount,
        true as is_told_by_other
    from judged
    where counts = 'part'
)

select * from counted
