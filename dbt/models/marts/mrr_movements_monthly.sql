with months as (
    select * from {{ ref('int_subscription_months__observed') }}
),

item_months as (
    select * from {{ ref('int_subscription_items__priced') }}
),

payers as (
    select * from {{ ref('int_subscription_customers__paid') }}
),

customer_months as (
    select
        connection_id,
        platform_customer_id,
        currency_code,
        month,
        {{ daybook.whole_sum('mrr') }} as mrr,
        count(*) - count(mrr) as unpriced_items
    from item_months
    group by connection_id, platform_customer_id, currency_code, month
),

customers as (
    select
        connection_id,
        platform_customer_id,
        currency_code,
        min(month) as first_month
    from customer_months
    group by connection_id, platform_customer_id, currency_code
),

known as (
    select
        customers.connection_id,
        customers.platform_customer_id,
        customers.currency_code,
        months.month,
        months.is_observed,
        months.observed_until,
        months.is_complete,
        months.is_baseline,
        months.has_pruned_months,
        case when customer_months.month is null then 0 else customer_months.mrr end as closing,
        coalesce(customer_months.unpriced_items, 0) as unpriced_items,
        months.month = customers.first_month as is_first
    from customers
    inner join months on customers.connection_id = months.connection_id and customers.first_month <= months.month
    left join customer_months
        on
            customers.connection_id = customer_months.connection_id
            and customers.platform_customer_id = customer_months.platform_customer_id
            and {{ daybook.same_value('customers.currency_code', 'customer_months.currency_code') }}
            and months.month = customer_months.month
),

-- A month opens with what history knows at its beginning, even if the month before was read in part or not at all.
opened as (
    select
        *,
        case
            when is_baseline then closing
            when is_first then 0
            else lag(closing) over (partition by connection_id, platform_customer_id, currency_code order by month)
        end as opening
    from known
),

-- A customer's currencies count together, so one that changes currency is neither new nor lost.
judged as (
    select
        opened.*,
        opened.closing - opened.opening as movement,
        -- Null if it depends on a currency that is not known.
        {% for end in ['opening', 'closing'] -%}
            case
                when bool_or(opened.{{ end }} <> 0) over customer_month then true
                when bool_or(opened.{{ end }} is null) over customer_month then null
                else false
            end as is_{{ end }}_paid,
        {% endfor -%}
        -- Before the month began: a subscription paid within it, stopped and paid again is new.
        case
            when payers.first_paid_month < opened.month then true
            when payers.first_unknown_month < opened.month then null
            -- Nobody knows who paid in versions that are gone from history.
            when opened.has_pruned_months then null
            when payers.is_first_seen_lapsed or payers.is_learned_late then null
            else false
        end as has_paid_before
    from opened
    inner join payers
        on
            opened.connection_id = payers.connection_id
            and opened.platform_customer_id = payers.platform_customer_id
    window customer_month as (partition by opened.connection_id, opened.platform_customer_id, opened.month)
),

-- Null if nobody knows; false if it is known not to be.
moved as (
    select
        *,
        not is_opening_paid and not has_paid_before as is_new,
        not is_opening_paid and has_paid_before as is_reactivation,
        is_opening_paid and is_closing_paid and closing > opening as is_expansion,
        is_opening_paid and is_closing_paid and closing < opening as is_contraction,
        is_opening_paid and not is_closing_paid as is_churn
    from judged
),

final as (
    select
        connection_id,
        platform_customer_id,
        month,
        currency_code,
        is_complete,
        is_observed,
        observed_until,
        is_baseline,
        cast(case when is_observed then opening end as numeric(38, 9)) as opening,
        {% for kind in ['new', 'reactivation', 'expansion', 'contraction', 'churn'] -%}
            cast(
                case
                    when not is_observed or movement is null then null
                    when movement = 0 or not is_{{ kind }} then 0
                    when is_{{ kind }} then movement
                end as numeric(38, 9)
            ) as {{ kind }},
        {% endfor -%}
        cast(case when is_observed then closing end as numeric(38, 9)) as closing,
        case when is_observed then unpriced_items end as unpriced_items
    from moved
)

select * from final
