-- Opening plus movements is closing, and closing is the revenue of the items.
with items as (
    select
        connection_id,
        platform_customer_id,
        currency_code,
        month,
        {{ daybook.whole_sum('mrr') }} as mrr
    from {{ ref('subscription_mrr_monthly') }}
    where mrr_status <> 'not_observed'
    group by connection_id, platform_customer_id, currency_code, month
)

select
    movements.connection_id,
    movements.platform_customer_id,
    movements.month
from {{ ref('mrr_movements_monthly') }} as movements
left join items
    on
        movements.connection_id = items.connection_id
        and movements.platform_customer_id = items.platform_customer_id
        and {{ daybook.same_value('movements.currency_code', 'items.currency_code') }}
        and movements.month = items.month
where
    movements.is_observed
    and (
        movements.opening + movements.new + movements.reactivation + movements.expansion + movements.contraction
        + movements.churn <> movements.closing
        or movements.closing is distinct from case when items.month is null then 0 else items.mrr end
    )
