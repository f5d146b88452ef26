-- Applications of credits to bills, as each side tells them, with the one date on which they count: that of the bill, and that of
-- the credit where the bill has none. The first that one side tells of a bill and a credit, by date, is the first of the other.
with bill_side as (
    select
        connection_id,
        bill_id,
        linked_id as credit_id,
        position,
        allocated_date,
        row_number() over (
            partition by connection_id, bill_id, linked_id
            order by allocated_date asc nulls last, position asc
        ) as place
    from {{ ref('stg_finance__bill_credit_allocations') }}
),

credit_side as (
    select
        connection_id,
        linked_id as bill_id,
        bill_credit_memo_id as credit_id,
        position,
        allocated_date,
        row_number() over (
            partition by connection_id, linked_id, bill_credit_memo_id
            order by allocated_date asc nulls last, position asc
        ) as place
    from {{ ref('stg_finance__bill_credit_memo_allocations') }}
),

dated as (
    select
        bill_side.connection_id,
        'bill' as told_by,
        bill_side.bill_id as document_id,
        bill_side.position,
        coalesce(bill_side.allocated_date, credit_side.allocated_date) as counted_date,
        coalesce(bill_side.allocated_date <> credit_side.allocated_date, false) as has_other_date
    from bill_side
    left join credit_side
        on
            bill_side.connection_id = credit_side.connection_id
            and bill_side.bill_id = credit_side.bill_id
            and bill_side.credit_id = credit_side.credit_id
            and bill_side.place = credit_side.place
    union all
    select
        credit_side.connection_id,
        'vendor_credit' as told_by,
        credit_side.credit_id as document_id,
        credit_side.position,
        coalesce(bill_side.allocated_date, credit_side.allocated_date) as counted_date,
        coalesce(bill_side.allocated_date <> credit_side.allocated_date, false) as has_other_date
    from credit_side
    left join bill_side
        on
            credit_side.connection_id = bill_side.connection_id
            and credit_side.bill_id = bill_side.bill_id
            and credit_side.credit_id = bill_side.credit_id
            and credit_side.place = bill_side.place
)

select * from dated
