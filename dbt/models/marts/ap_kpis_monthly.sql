with open_items as (
    select * from {{ ref('ap_open_items') }}
),

days as (
    select * from {{ ref('int_ageing__dated') }}
),

bills as (
    select * from {{ ref('bills') }}
    where posting_status = 'posted'
),

allocations as (
    select * from {{ ref('int_bill_allocations__unioned') }}
    where source_type = 'payment'
),

currencies as (
    select distinct
        connection_id,
        currency_code
    from bills
),

-- The current month ends today; a day that is a month-end is both.
months as (
    select
        {{ daybook.month_of('as_of_date') }} as month,
        as_of_date,
        as_of_date = {{ daybook.month_end('as_of_date') }} as is_complete
    from days
),

balances as (
    select
        connection_id,
        currency_code,
        as_of_date,
        coalesce(sum(open_amount) filter (where document_type = 'bill'), 0) as open_ap_end,
        coalesce(sum(open_amount) filter (where document_type = 'vendor_credit'), 0) as unapplied_credits,
        coalesce(sum(open_amount) filter (where document_type = 'bill' and days_past_due > 0), 0) as overdue,
        coalesce(sum(open_amount) filter (where document_type = 'bill' and days_past_due > 90), 0) as over_90
    from open_items
    group by connection_id, currency_code, as_of_date
),

purchases as (
    select
        connection_id,
        currency_code,
        {{ daybook.month_of('issue_date') }} as month,
        sum(total_amount) as purchases
    from bills
    where issue_date is not null and issue_date <= {{ daybook.as_of_date() }}
    group by connection_id, currency_code, {{ daybook.month_of('issue_date') }}
),

payments as (
    select
        bills.connection_id,
        bills.currency_code,
        {{ daybook.month_of('allocations.allocated_date') }} as month,
        sum(allocations.allocated_amount) as paid,
        sum(allocations.allocated_amount) filter (where bills.issue_date is not null) as paid_with_days,
        sum(allocations.allocated_amount * {{ daybook.days_between('bills.issue_date', 'allocations.allocated_date') }})
            as paid_days,
        coalesce(sum(allocations.allocated_amount) filter (where allocations.allocated_date > bills.due_date), 0)
            as paid_late
    from allocations
    inner join bills on allocations.connection_id = bills.connection_id and allocations.bill_id = bills.bill_id
    where allocations.allocated_date is not null
    group by bills.connection_id, bills.currency_code, {{ daybook.month_of('allocations.allocated_date') }}
),

monthly as (
    select
        currencies.connection_id,
        currencies.currency_code,
        months.month,
        months.as_of_date,
        months.is_complete,
        coalesce(balances.open_ap_end, 0) as open_ap_end,
        coalesce(balances.unapplied_credits, 0) as unapplied_credits,
        coalesce(balances.overdue, 0) as overdue,
        coalesce(balances.over_90, 0) as over_90,
        coalesce(purchases.purchases, 0) as purchases,
        coalesce(payments.paid, 0) as paid,
        payments.paid_with_days,
        payments.paid_days,
        payments.paid_late,
        {{ daybook.days_between('months.month', 'months.as_of_date') }} + 1 as days
    from currencies
    cross join months
    left join balances
        on
            currencies.connection_id = balances.connection_id
            and currencies.currency_code is not distinct from balances.currency_code
            and months.as_of_date = balances.as_of_date
    left join purchases
        on
            currencies.connection_id = purchases.connection_id
            and currencies.currency_code is not distinct from purchases.currency_code
            and months.month = purchases.month
    left join payments
        on
            currencies.connection_id = payments.connection_id
            and currencies.currency_code is not distinct from payments.currency_code
            and months.month = payments.month
),

rolling as (
    select
        *,
        sum(open_ap_end) over three_months as open_ap_3_months,
        sum(purchases) over three_months as purchases_3_months,
        sum(days) over three_months as days_3_months,
        count(*) over three_months as months_seen
    from monthly
    window three_months as (
        partition by connection_id, currency_code
        order by month
        rows between 2 preceding and current row
    )
),

final as (
    select
        connection_id,
        month,
        currency_code,
        is_complete,
        cast(open_ap_end as numeric(38, 9)) as open_ap_end,
        cast(unapplied_credits as numeric(38, 9)) as unapplied_credits,
        cast(purchases as numeric(38, 9)) as purchases,
        cast(paid as numeric(38, 9)) as paid,
        case
            when months_seen = 3 and purchases_3_months <> 0
                then {{ daybook.ratio('open_ap_3_months', '3 * purchases_3_months') }} * cast(days_3_months as float8)
        end as days_payable_outstanding,
        {{ daybook.ratio('paid_days', 'paid_with_days') }} as average_days_to_pay,
        {{ daybook.ratio('paid_late', 'paid') }} as paid_late_share,
        {{ daybook.ratio('overdue', 'open_ap_end') }} as overdue_share,
        {{ daybook.ratio('over_90', 'open_ap_end') }} as over_90_share
    from rolling
)

select * from final
