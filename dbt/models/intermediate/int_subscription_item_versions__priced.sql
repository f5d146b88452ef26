-- The monthly value of each item of each version of a subscription.
{% set computed_amount -%}
    {{ daybook.money_mul('items.quantity', 'items.unit_amount', daybook.minor_units('items.currency_code')) }}
{%- endset %}
with versions as (
    select * from {{ ref('int_subscription_versions__owned') }}
),

item_versions as (
    select * from {{ ref('stg_finance__subscription_item_versions') }}
),

unfit_amounts as (
    {{ daybook.unfit_rows('subscription_item_versions', ['amount']) }}
),

unfit_prices as (
    {{ daybook.unfit_rows('subscription_item_versions', ['quantity', 'unit_amount']) }}
),

-- Before any other join: the planner expects one row from joins by several columns, and the next join would scan all rows for
-- each.
items as (
    select
        item_versions.*,
        -- Only counts within these bounds are used: twelve times a count that a source may send does not fit in a bigint, in any
        -- row.
        case when item_versions.interval_count between 1 and 9999 then item_versions.interval_count end as intervals,
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
        items.connection_id,
        items.subscription_id,
        items.position,
        items.recorded_at,
        versions.first_month,
        versions.next_month,
        versions.platform_customer_id,
        items.currency_code,
        items.status,
        -- For an unknown status (for example past_due) it is not known whether it is paid.
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
            when items.intervals is null then null
            when {{ daybook.lowered('items.billing_interval') }} = 'day' then 365
            when {{ daybook.lowered('items.billing_interval') }} = 'week' then 52
            when {{ daybook.lowered('items.billing_interval') }} in ('month', 'year') then 1
        end as numerator,
        items.intervals * case {{ daybook.lowered('items.billing_interval') }} when 'month' then 1 else 12 end as denominator
    from items
    inner join versions
        on
            items.connection_id = versions.connection_id
            and items.subscription_id = versions.subscription_id
            and items.recorded_at = versions.recorded_at
),

priced as (
    select
        connection_id,
        subscription_id,
        position,
        recorded_at,
        first_month,
        next_month,
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
            -- Nothing is nothing a month, whatever its interval, for example a free setup.
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
        is_amount_computed or coalesce({{ daybook.lowered('billing_interval') }} in ('day', 'week'), false) as is_estimated
    from described
)

select * from priced
