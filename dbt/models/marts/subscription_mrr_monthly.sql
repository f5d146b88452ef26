with priced as (
    select * from {{ ref('int_subscription_items__priced') }}
),

waiting as (
    select * from {{ ref('stg_finance__waiting_deletions') }}
    where resource = 'subscriptions'
),

final as (
    select
        priced.connection_id,
        priced.subscription_id,
        priced.position,
        priced.month,
        priced.is_complete,
        priced.observed_until,
        priced.platform_customer_id,
        priced.currency_code,
        priced.status,
        priced.billing_interval,
        priced.interval_count,
        priced.quantity,
        priced.period_amount,
        priced.period_amount_variance,
        case when priced.is_observed then priced.mrr_status else 'not_observed' end as mrr_status,
        cast(case when priced.is_observed then priced.mrr end as numeric(38, 9)) as mrr,
        priced.is_estimated,
        priced.is_baseline,
        waiting.record_id is not null as awaits_deletion
    from priced
    left join waiting on priced.connection_id = waiting.connection_id and priced.subscription_id = waiting.record_id
)

select * from final
