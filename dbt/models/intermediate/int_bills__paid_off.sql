-- The day on which the payments of a bill came to what they are together, the last one where they fell below it again. A payment
-- of 0, or one that was made twice and undone, is no sign of when a vendor is paid.
with payments as (
    select * from {{ ref('stg_finance__bill_payment_allocations') }}
),

bills as (
    select * from {{ ref('stg_finance__bills') }}
),

-- Payments without a date count as before every day.
daily as (
    select
        payments.connection_id,
        payments.bill_id,
        bills.currency_code,
        payments.allocated_date,
        {{ daybook.whole_sum('payments.allocated_amount') }} as paid
    from payments
    inner join bills on payments.connection_id = bills.connection_id and payments.bill_id = bills.bill_id
    group by payments.connection_id, payments.bill_id, bills.currency_code, payments.allocated_date
),

added as (
    select
        connection_id,
        bill_id,
        currency_code,
        allocated_date,
        paid,
        sum(paid) over (
            partition by connection_id, bill_id order by allocated_date asc nulls first rows unbounded preceding
        ) as paid_by_then,
        {{ daybook.whole_sum_over('paid', '(partition by connection_id, bill_id)') }} as paid_in_all
    from daily
),

paid_off as (
    select
        connection_id,
        bill_id,
        max(allocated_date) as paid_off_date
    from added
    where
        paid_in_all > 0
        and paid_by_then >= paid_in_all - {{ daybook.noise('currency_code') }}
        and paid_by_then - paid < paid_in_all - {{ daybook.noise('currency_code') }}
    group by connection_id, bill_id
)

select * from paid_off
