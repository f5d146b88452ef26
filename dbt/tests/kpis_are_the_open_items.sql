-- The month-end amounts in the KPIs equal the open items on the month's last day, or today.
with items as (
    select
        connection_id,
        currency_code,
        {{ daybook.month_of('as_of_date') }} as month,
        cast({{ daybook.whole_sum('open_amount', "not is_credit") }} as numeric(38, 9)) as open_ap_end,
        cast({{ daybook.whole_sum('open_amount', "is_credit") }} as numeric(38, 9)) as unapplied_credits
    from {{ ref('ap_open_items') }}
    group by connection_id, currency_code, {{ daybook.month_of('as_of_date') }}
),

expected as (
    select * from items
    where open_ap_end is distinct from 0 or unapplied_credits is distinct from 0
),

found as (
    select
        connection_id,
        currency_code,
        month,
        open_ap_end,
        unapplied_credits
    from {{ ref('ap_kpis_monthly') }}
    where open_ap_end is distinct from 0 or unapplied_credits is distinct from 0
)

{{ daybook.difference('expected', 'found') }}
