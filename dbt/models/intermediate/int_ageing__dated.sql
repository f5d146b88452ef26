-- The days for which ageing is shown: today and the month ends before it.
with month_ends as (
    select {{ daybook.add_months('day', 1) }} - 1 as as_of_date
    from
        {{ daybook.date_series(
            daybook.add_months(daybook.month_of(daybook.as_of_date()), '-' ~ var('daybook_ageing_months', 36)),
            daybook.month_of(daybook.as_of_date()),
            '1 month'
        ) }} as months
),

dated as (
    select
        cast(as_of_date as date) as as_of_date,
        false as is_today
    from month_ends
    where as_of_date < {{ daybook.as_of_date() }}
    union all
    select
        {{ daybook.as_of_date() }} as as_of_date,
        true as is_today
)

select * from dated
