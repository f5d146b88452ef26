-- What each subscription item is worth a month, as the warehouse knew it at the end of each month, observed or not.
{% set computed_amount -%}
    {{ daybook.money_mul('items.quantity', 'items.unit_amount', daybook.minor_units('items.currency_code')) }}
{%- endset %}
with months as (
    select * from {{ ref('int_subscription_months__observed') }}
),

item_versions as (
    select * from {{ ref('stg_finance__subscription_item_versions') }}
    where {{ daybook.reporting_day_of('recorded_at') }} <= {{ daybook.as_of_date() }}
),

unfit_amounts as (
    {{ daybook.unfit_rows('subscription_item_versions', ['amount']) }}
),

unfit_prices as (
    {{ daybook.unfit_rows('subscription_item_versions', ['quantity', 'unit_amount']) }}
),

recordings as (
    select
        connection_id,
        subscription_id,
        recorded_at,
        max(case when op = 'upsert' then platform_customer_id end) as platform_customer_id
    from item_versions
    group by connection_id, subscription_id, recorded_at
),

-- How many versions name a customer, from this one on and up to this one: those with one count have one of them among them.
periods as (
    select
        connection_id,
        subscription_id,
        recorded_at,
        platform_customer_id,
        {{ daybook.recorded_month('recorded_at') }} as first_month,
        lead({{ daybook.recorded_month('recorded_at') }}) over (
            partition by connection_id, subscription_id order by recorded_at
        ) as next_month,
        count(platform_customer_id) over (
            partition by connection_id, subscription_id order by recorded_at desc rows unbounded preceding
        ) as named_from_here,
        count(platform_customer_id) over (
            partition by connection_id, subscription_id order by recorded_at rows unbounded preceding
        ) as named_so_far
    from recordings
),

-- A version that names no customer is of the one that is named next, else of the one that was named last: to be named is no sale.
owned as (
    select
        connection_id,
        subscription_id,
        recorded_at,
        first_month,
        next_month,
        coalesce(
            max(platform_customer_id) over (partition by connection_id, subscription_id, named_from_here),
            max(platform_customer_id) over (partition by connection_id, subscription_id, named_so_far)
        ) as platform_customer_id
    from periods
),

-- Before any other join: what is expected of joins by several columns is one row, and the next one would look at each.
items as (
    select
        item_versions.*,
        unfit_amounts.record_id is not null as has_unfit_own_amount,
        unfit_prices.record_id is not null as has_unfit_price
    from item_versions
    {% for unfit in ['unfit_amounts', 'unfit_prices'] -%}
        left join {{ unfit }}
            on
                item_versions.connection_id = {{ unfit }}.connection_id
                and item_versions.subscription_id = {{ unfit }}.record_id
                and item_versions.recorded_at = {{ unfit }}.recorded_at
                and item_versions.position = {{ unfit }}.position
    {% endfor -%}
    where item_versions.op = 'upsert' and item_versions.position is not null
),

described as (
    select
        months.connection_id,
        items.subscription_id,
        items.position,
        months.month,
        months.is_observed,
        months.observed_until,
        months.is_complete,
        months.is_baseline,
        -- Nobody knows that two subscriptions without a customer have the same one.
        coalesce(owned.platform_customer_id, '(none) ' || items.subscription_id) as platform_customer_id,
        items.currency_code,
        items.status,
        -- Of a status that nobody knows (past_due, for example) it is not known whether it is paid.
        case
            when items.status = 'active' then true
            when items.status in ('in_trial', 'paused', 'canceled') then false
        end as is_active,
        items.billing_interval,
        items.interval_count,
        items.quantity,
        case
            when not items.has_unfit_own_amount
                then coalesce(items.amount, {{ computed_amount }})
        end as period_amount,
        items.amount - {{ computed_amount }} as period_amount_variance,
        items.amount is null and not items.has_unfit_own_amount as is_amount_computed,
        items.has_unfit_own_amount
        or (
            items.amount is null
            and (items.has_unfit_price or (items.quantity is not null and items.unit_amount is not null))
        ) as has_unfit_amount,
        case
            when coalesce(items.interval_count, 0) not between 1 and 9999 then null
            when lower(items.billing_interval) = 'day' then 365
            when lower(items.billing_interval) = 'week' then 52
            when lower(items.billing_interval) in ('month', 'year') then 1
        end as numerator,
        items.interval_count * case lower(items.billing_interval) when 'month' then 1 else 12 end as denominator
    from months
    inner join owned
        on
            months.connection_id = owned.connection_id
            and months.month >= owned.first_month
            and (owned.next_month is null or months.month < owned.next_month)
    inner join items
        on
            owned.connection_id = items.connection_id
            and owned.subscription_id = items.subscription_id
            and owned.recorded_at = items.recorded_at
),

priced as (
    select
        connection_id,
        subscription_id,
        position,
        month,
        is_observed,
        observed_until,
        is_complete,
        is_baseline,
        platform_customer_id,
        currency_code,
        status,
        billing_interval,
        interval_count,
        quantity,
        cast(period_amount as numeric(38, 9)) as period_amount,
        cast(period_amount_variance as numeric(38, 9)) as period_amount_variance,
        case
            when not is_active then 'not_active'
            when is_active is null then 'unknown_status'
            -- Nothing is nothing a month, whatever its interval: a setup that costs nothing, for example.
            when period_amount = 0 then 'priced'
            when numerator is null then 'unknown_interval'
            when period_amount is null and has_unfit_amount then 'unfit_amount'
            when period_amount is null then 'no_amount'
            else 'priced'
        end as mrr_status,
        cast(
            case
                when not is_active then 0
                when is_active and period_amount = 0 then 0
                when is_active and numerator is not null
                    then {{ daybook.money_ratio(
                        'period_amount', 'numerator', 'denominator', daybook.minor_units('currency_code')
                    ) }}
            end as numeric(38, 9)
        ) as mrr,
        is_amount_computed or coalesce(lower(billing_interval) in ('day', 'week'), false) as is_estimated
    from described
)

select * from priced
