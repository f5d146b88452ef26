-- The monthly value of each subscription item, as the warehouse knew it at the end of each month, observed or not.
with months as (
    select * from {{ ref('int_subscription_months__observed') }}
),

item_versions as (
    select * from {{ ref('int_subscription_item_versions__priced') }}
),

at_month_ends as (
    select
        months.connection_id,
        item_versions.subscription_id,
        item_versions.position,
        months.month,
        months.is_observed,
        months.observed_until,
        months.is_complete,
        months.is_baseline,
        item_versions.platform_customer_id,
        item_versions.currency_code,
        item_versions.status,
        item_versions.billing_interval,
        item_versions.interval_count,
        item_versions.quantity,
        item_versions.period_amount,
        item_versions.period_amount_variance,
        item_versions.mrr_status,
        item_versions.mrr,
        item_versions.is_estimated
    from months
    inner join item_versions
        on
            months.connection_id = item_versions.connection_id
            and months.month >= item_versions.first_month
            and (item_versions.next_month is null or months.month < item_versions.next_month)
)

select * from at_month_ends
