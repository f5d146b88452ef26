with months as (
    select * from {{ ref('int_subscription_months__observed') }}
),

item_months as (
    select * from {{ ref('subscription_mrr_monthly') }}
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

-- Only months that were observed have a closing. The others get a row of nulls, and the next one goes on from the last closing. A
-- closing that is not known was paid all the same: what does not fit is not 0.
closings as (
    select
        customers.connection_id,
        customers.platform_customer_id,
        customers.currency_code,
        months.month,
        months.is_baseline,
        case when customer_months.month is null then 0 else customer_months.mrr end as closing,
        coalesce(customer_months.unpriced_items, 0) as unpriced_items,
        row_number() over past = 1 as is_first,
        lag(case when customer_months.month is null then 0 else customer_months.mrr end) over past as opening,
        coalesce(
            bool_or(customer_months.month is not null and (customer_months.mrr is null or customer_months.mrr > 0)) over before,
            false
        ) as was_paying_before
    from customers
    inner join months on customers.connection_id = months.connection_id and customers.first_month <= months.month
    left join customer_months
        on
            customers.connection_id = customer_months.connection_id
            and customers.platform_customer_id = customer_months.platform_customer_id
            and customers.currency_code is not distinct from customer_months.currency_code
            and months.month = customer_months.month
    where months.is_observed
    window past as (
        partition by customers.connection_id, customers.platform_customer_id, customers.currency_code
        order by months.month
    ),
    before as (
        partition by customers.connection_id, customers.platform_customer_id, customers.currency_code
        order by months.month
        rows between unbounded preceding and 1 preceding
    )
),

opened as (
    select
        connection_id,
        platform_customer_id,
        currency_code,
        month,
        is_baseline,
        case
            when is_baseline then closing
            when is_first then 0
            else opening
        end as opening,
        closing,
        was_paying_before,
        unpriced_items
    from closings
),

moved as (
    select
        *,
        closing - opening as movement,
        case when closing is not null and opening is not null then 0 end as unmoved
    from opened
),

unobserved as (
    select
        customers.connection_id,
        customers.platform_customer_id,
        customers.currency_code,
        months.month
    from customers
    inner join months on customers.connection_id = months.connection_id and customers.first_month <= months.month
    where not months.is_observed
),

final as (
    select
        connection_id,
        platform_customer_id,
        month,
        currency_code,
        {{ daybook.month_end('month') }} <= {{ daybook.as_of_date() }} as is_complete,
        true as is_observed,
        is_baseline,
        cast(opening as numeric(38, 9)) as opening,
        cast(case when opening = 0 and not was_paying_before then movement else unmoved end as numeric(38, 9)) as new,
        cast(case when opening = 0 and was_paying_before then movement else unmoved end as numeric(38, 9)) as reactivation,
        cast(case when opening <> 0 and closing <> 0 and closing > opening then movement else unmoved end as numeric(38, 9))
            as expansion,
        cast(case when opening <> 0 and closing <> 0 and closing < opening then movement else unmoved end as numeric(38, 9))
            as contraction,
        cast(case when opening <> 0 and closing = 0 then movement else unmoved end as numeric(38, 9)) as churn,
        cast(closing as numeric(38, 9)) as closing,
        unpriced_items
    from moved
    union all
    select
        connection_id,
        platform_customer_id,
        month,
        currency_code,
        {{ daybook.month_end('month') }} <= {{ daybook.as_of_date() }} as is_complete,
        false as is_observed,
        false as is_baseline,
        cast(null as numeric(38, 9)) as opening,
        cast(null as numeric(38, 9)) as new,
        cast(null as numeric(38, 9)) as reactivation,
        cast(null as numeric(38, 9)) as expansion,
        cast(null as numeric(38, 9)) as contraction,
        cast(null as numeric(38, 9)) as churn,
        cast(null as numeric(38, 9)) as closing,
        cast(null as bigint) as unpriced_items
    from unobserved
)

select * from final
