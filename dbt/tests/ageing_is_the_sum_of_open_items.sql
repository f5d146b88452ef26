with items as (
    select
        as_of_date,
        sum(open_amount) as open_amount
    from {{ ref('ap_open_items') }}
    group by as_of_date
),

ageing as (
    select
        as_of_date,
        sum(total_open) as total_open,
        sum(not_due + days_1_30 + days_31_60 + days_61_90 + days_over_90 + no_due_date) as buckets
    from {{ ref('ap_ageing') }}
    group by as_of_date
)

select
    items.as_of_date,
    items.open_amount,
    ageing.total_open,
    ageing.buckets
from items
left join ageing on items.as_of_date = ageing.as_of_date
where ageing.total_open is distinct from items.open_amount or ageing.buckets is distinct from items.open_amount
