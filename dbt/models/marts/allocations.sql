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

-- One that counts in parts counts as a whole with the last of them.
counted as (
    select
        connection_id,
        document_type,
        document_id,
        source_type,
        position,
        case when count(*) = count(counted_date) then max(counted_date) end as counted_date
    from {{ ref('int_ap_allocations__signed') }}
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
),

final as (
    select * from from_bills
    union all
    select * from from_credits
)

select * from final
