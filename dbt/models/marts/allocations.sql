with bill_allocations as (
    select * from {{ ref('int_bill_allocations__unioned') }}
),

credit_allocations as (
    select * from {{ ref('stg_finance__bill_credit_memo_allocations') }}
),

bills as (
    select * from {{ ref('stg_finance__bills') }}
),

credits as (
    select * from {{ ref('stg_finance__bill_credit_memos') }}
),

-- An application that only one document tells settles the other one too.
settled as (
    select * from {{ ref('int_credit_links__settled') }}
),

-- An application that counts in parts counts as a whole with the last part.
counted as (
    select
        connection_id,
        document_type,
        document_id,
        source_type,
        position,
        case when count(*) = count(counted_date) then max(counted_date) end as counted_date
    from {{ ref('int_ap_allocations__signed') }}
    where not is_told_by_other
    group by connection_id, document_type, document_id, source_type, position
),

from_bills as (
    select
        allocations.connection_id,
        'bill' as told_by,
        allocations.bill_id as document_id,
        allocations.source_type,
        allocations.position,
        allocations.bill_id,
        allocations.linked_id as source_id,
        bills.currency_code,
        {{ daybook.posting_status('bills.status') }} as posting_status,
        allocations.allocated_date,
        counted.counted_date,
        allocations.allocated_amount,
        cast(null as numeric(38, 9)) as memo_side_amount,
        allocations.allocated_amount as bill_amount,
        case when settled.document_id is null then 0 else settled.settled_amount end as credit_amount,
        allocations.source_type = 'credit' and credits.bill_credit_memo_id is null as is_orphan
    from bill_allocations as allocations
    inner join bills on allocations.connection_id = bills.connection_id and allocations.bill_id = bills.bill_id
    left join credits
        on
            allocations.connection_id = credits.connection_id
            and allocations.linked_id = credits.bill_credit_memo_id
    inner join counted
        on
            allocations.connection_id = counted.connection_id
            and counted.document_type = 'bill'
            and allocations.bill_id = counted.document_id
            and allocations.source_type = counted.source_type
            and allocations.position = counted.position
    left join settled
        on
            allocations.connection_id = settled.connection_id
            and settled.told_by = 'bill'
            and allocations.source_type = 'credit'
            and allocations.bill_id = settled.document_id
            and allocations.position = settled.position
),

from_credits as (
    select
        allocations.connection_id,
        'vendor_credit' as told_by,
        allocations.bill_credit_memo_id as document_id,
        'credit' as source_type,
        allocations.position,
        allocations.linked_id as bill_id,
        allocations.bill_credit_memo_id as source_id,
        credits.currency_code,
        {{ daybook.posting_status('credits.status') }} as posting_status,
        allocations.allocated_date,
        counted.counted_date,
        cast(null as numeric(38, 9)) as allocated_amount,
        allocations.allocated_amount as memo_side_amount,
        case when settled.document_id is null then 0 else settled.settled_amount end as bill_amount,
        allocations.allocated_amount as credit_amount,
        bills.bill_id is null as is_orphan
    from credit_allocations as allocations
    inner join credits
        on
            allocations.connection_id = credits.connection_id
            and allocations.bill_credit_memo_id = credits.bill_credit_memo_id
    inner join counted
        on
            allocations.connection_id = counted.connection_id
            and counted.document_type = 'vendor_credit'
            and allocations.bill_credit_memo_id = counted.document_id
            and allocations.position = counted.position
    left join bills on allocations.connection_id = bills.connection_id and allocations.linked_id = bills.bill_id
    left join settled
        on
            allocations.connection_id = settled.connection_id
            and settled.told_by = 'vendor_credit'
            and allocations.bill_credit_memo_id = settled.document_id
            and allocations.position = settled.position
),

unioned as (
    select * from from_bills
    union all
    select * from from_credits
),

final as (
    select
        connection_id,
        told_by,
        document_id,
        source_type,
        position,
        bill_id,
        source_id,
        currency_code,
        posting_status,
        allocated_date,
        counted_date,
        allocated_amount,
        memo_side_amount,
        cast(bill_amount as numeric(38, 9)) as bill_amount,
        cast(credit_amount as numeric(38, 9)) as credit_amount,
        is_orphan
    from unioned
)

select * from final
