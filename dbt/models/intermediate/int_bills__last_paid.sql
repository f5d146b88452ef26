-- The day of the last lasting payment of each paid-off bill; a payment lasts as far as a part above 0 remains on every later day.
-- A bill that credits settled by more than half has no such day, because it does not tell when its vendor is paid.
with payments as (
    select * from {{ ref('int_bill_allocations__unioned') }}
    where source_type = 'payment' and allocated_date <= {{ daybook.as_of_date() }}
),

bills as (
    select * from {{ ref('stg_finance__bills') }}
),

paid_off as (
    select * from {{ ref('int_bills__paid_off') }}
),

daily as (
    select
        connection_id,
        bill_id,
        allocated_date,
        sum(allocated_amount) as paid
    from payments
    group by connection_id, bill_id, allocated_date
),

added as (
    select
        *,
        sum(paid) over (partition by connection_id, bill_id order by allocated_date rows unbounded preceding) as paid_by_then
    from daily
),

lasting as (
    select
        *,
        min(paid_by_then) over (
            partition by connection_id, bill_id order by allocated_date desc rows unbounded preceding
        ) - paid_by_then + paid as lasting_amount
    from added
),

last_paid as (
    select
        lasting.connection_id,
        lasting.bill_id,
        max(lasting.allocated_date) as last_paid_date
    from lasting
    inner join bills on lasting.connection_id = bills.connection_id and lasting.bill_id = bills.bill_id
    inner join paid_off on lasting.connection_id = paid_off.connection_id and lasting.bill_id = paid_off.bill_id
    where
        lasting.allocated_date <= paid_off.paid_off_date
        and lasting.lasting_amount > {{ daybook.noise('bills.currency_code') }}
    group by lasting.connection_id, lasting.bill_id, bills.total_amount
    having 2 * sum(lasting.lasting_amount) >= bills.total_amount
)

select * from last_paid
