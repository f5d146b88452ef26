with days as (
    select day
    from
        {{ daybook.date_series(
            "cast('2000-01-01' as date)", daybook.add_months(daybook.as_of_date(), 60)
        ) }} as series
),

shifted as (
    select
        day,
        {{ daybook.add_months('day', 1 - var('daybook_fiscal_year_start_month', 1)) }} as fiscal_day
    from days
),

final as (
    select
        day as date,
        {{ daybook.month_of('day') }} as month,
        cast(date_trunc('quarter', day) as date) as quarter,
        cast(extract(year from day) as bigint) as year,
        cast(extract(month from day) as bigint) as month_of_year,
        cast({{ daybook.day_of_week('day') }} as bigint) as day_of_week,
        cast(date_trunc('week', day) as date) as week,
        cast(extract(year from fiscal_day) as bigint) as fiscal_year,
        cast(extract(quarter from fiscal_day) as bigint) as fiscal_quarter,
        day = {{ daybook.month_end('day') }} as is_month_end,
        {{ daybook.day_of_week('day') }} in (6, 7) as is_weekend,
        day = {{ daybook.as_of_date() }} as is_today
    from shifted
)

select * from final
