with months as (
    select * from {{ ref('int_subscription_months__observed') }}
),

item_months as (
    select * from {{ ref('int_subscription_items__priced') }}
),

customer_months as (
    select
        connection_id,
        platform_customer_id,
        currency_code,
        month,
        case when count(*) filter (where mrr_status = 'unfit_amount') = 0 then coalesce(sum(mrr), 0) end as mrr,
        count(*) filter (where mrr_status in ('unknown_interval', 'no_amount')) as unpriced_items
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

-- In whatever currency. A closing that is not known was paid all the same: what does not fit is not 0.
first_payments as (
    select
        connection_id,
        platform_customer_id,
        min(month) as first_paid_month
    from customer_months
    where mrr is null or mrr > 0
    group by connection_id, platform_customer_id
),

known as (
    select
        customers.connection_id,
        customers.platform_customer_id,
        customers.currency_code,
        months.month,
        months.is_observed,
        months.is_baseline,
        case when customer_months.month is null then 0 else customer_months.mrr end as closing,
        coalesce(customer_months.unpriced_items, 0) as unpriced_items,
        months.month = customers.first_month as is_first
    from customers
    inner join months on customers.connection_id = months.connection_id and customers.first_month <= months.month
    left join customer_months
        on
            customers.connection_id = customer_months.connection_id
            and customers.platform_customer_id = customer_months.platform_customer_id
            and customers.currency_code is not distinct from customer_months.currency_code
            and months.month = customer_months.month
),

-- A month opens with what history knows at its beginning, though the month before was read in part or not at all.
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

-- A customer pays, or does not, in all currencies together: one that changes it is neither new nor lost.
judged as (
    select
        opened.*,
        opened.closing - opened.opening as movement,
        case when opened.closing is not null and opened.opening is not null then 0 end as unmoved,
        bool_or(opened.opening is distinct from 0) over customer_month as opens_paying,
        bool_or(opened.closing is distinct from 0) over customer_month as closes_paying,
        coalesce(first_payments.first_paid_month < opened.month, false) as has_paid_before
    from opened
    left join first_payments
        on
            opened.connection_id = first_payments.connection_id
            and opened.platform_customer_id = first_payments.platform_customer_id
    window customer_month as (partition by opened.connection_id, opened.platform_customer_id, opened.month)
),

moved as (
    select
        *,
        case
            when not opens_paying and not has_paid_before then 'new'
            when not opens_paying then 'reactivation'
            when not closes_paying then 'churn'
            when closing > opening then 'expansion'
            else 'contraction'
        end as kind
    from judged
),

final as (
    select
        connection_id,
        platform_customer_id,
        month,
        currency_code,
        {{ daybook.month_end('month') }} <= {{ daybook.as_of_date() }} as is_complete,
        is_observed,
        is_baseline,
        cast(case when is_observed then opening end as numeric(38, 9)) as opening,
        {% for kind in ['new', 'reactivation', 'expansion', 'contraction', 'churn'] -%}
            cast(case when is_observed then case when kind = '{{ kind }}' then movement else unmoved end end as numeric(38, 9))
                as {{ kind }},
        {% endfor -%}
        cast(case when is_observed then closing end as numeric(38, 9)) as closing,
        case when is_observed then unpriced_items end as unpriced_items
    from moved
)

select * from final
