with priced as (
    select * from {{ ref('int_subscription_items__priced') }}
),

final as (
    select
        connection_id,
        subscription_id,
        position,
        month,
        is_complete,
        observed_until,
        platform_customer_id,
        currency_code,
        status,
        billing_interval,
        interval_count,
        quantity,
        period_amount,
        period_amount_variance,
        case when is_observed then mrr_status else 'not_observed' end as mrr_status,
        cast(case when is_observed then mrr end as numeric(38, 9)) as mrr,
        is_estimated,
        is_baseline
    from priced
)

select * from final
