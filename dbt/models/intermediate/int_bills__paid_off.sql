-- The day on which the settlements of a bill, payments and credits up to today, reached its total; the last such day if they fell
-- below it again. A payment of 0, or one too many, does not tell when a vendor is paid; nor does a part of the bill's cost if
-- nobody knows what settled the rest.
with settlements as (
    select * from {{ ref('int_ap_allocations__signed') }}
    where document_type = 'bill' and coalesce(counted_date <= {{ daybook.as_of_date() }}, true)
),

bills as (
    select * from {{ ref('stg_finance__bills') }}
),

-- Undated settlements count as before every day.
daily as (
    select
        bills.connection_id,
        bills.bill_id,
        bills.total_amount - {{ daybook.noise('bills.currency_code') }} as enough,
        bills.total_amount,
        settlements.counted_date,
        {{ daybook.whole_sum('settlements.allocated_amount') }} as paid
    from settlements
    inner join bills on settlements.connection_id = bills.connection_id and settlements.document_id = bills.bill_id
    group by bills.connection_id, bills.bill_id, bills.currency_code, bills.total_amount, settlements.counted_date
),

added as (
    select
        connection_id,
        bill_id,
        enough,
        total_amount,
        counted_date,
        paid,
        sum(paid) over (
            partition by connection_id, bill_id order by counted_date asc nulls first rows unbounded preceding
        ) as paid_by_then,
        {{ daybook.whole_sum_over('paid', '(partition by connection_id, bill_id)') }} as paid_in_all
    from daily
),

paid_off as (
    select
        connection_id,
        bill_id,
        max(counted_date) as paid_off_date
    from added
    where
        total_amount > 0
        and paid_in_all >= enough
        and paid_by_then >= enough
        and paid_by_then - paid < enough
    group by connection_id, bill_id
)

select * from paid_off
