with open_items as (
    select coalesce(sum(open_amount), 0) as amount
    from {{ ref('ap_open_items') }}
    where is_today
),

cash as (
    select
        coalesce(sum(amount_due), 0) as amount_due,
        coalesce(sum(expected_amount), 0) as expected_amount
    from {{ ref('cash_requirements') }}
)

select
    open_items.amount,
    cash.amount_due,
    cash.expected_amount
from open_items
cross join cash
where open_items.amount <> cash.amount_due or open_items.amount <> cash.expected_amount
