-- Grain: marts.bills has every bill of the source once, and its totals.
with source as (
    select
        count(*) as bill_count,
        coalesce(sum(total_amount), 0) as total_amount,
        coalesce(sum(amount_due), 0) as amount_due
    from {{ ref('stg_finance__bills') }}
),

mart as (
    select
        count(*) as bill_count,
        coalesce(sum(total_amount), 0) as total_amount,
        coalesce(sum(amount_due), 0) as amount_due
    from {{ ref('bills') }}
)

select
    source.bill_count,
    mart.bill_count as mart_count
from source
cross join mart
where
    source.bill_count <> mart.bill_count
    or source.total_amount <> mart.total_amount
    or source.amount_due <> mart.amount_due
