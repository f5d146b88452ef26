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

-- Settlements of bills by the day on which they count everywhere. Undated ones count as before every day.
settlements as (
    select * from {{ ref('int_ap_allocations__signed') }}
    where document_type = 'bill' and coalesce(counted_date <= {{ daybook.as_of_date() }}, true)
),

credits as (
    select * from {{ ref('vendor_credits') }}
    where posting_status = 'posted'
),

reads as (
    select * from {{ ref('int_connections__read') }}
),

currencies as (
    select
        connection_id,
        currency_code
    from bills
    union
    select
        connection_id,
        currency_code
    from credits
),

-- The current month ends today, and is not over even on its last day.
months as (
    select
        {{ daybook.month_of('as_of_date') }} as month,
        as_of_date,
        as_of_date = {{ daybook.month_end('as_of_date') }} and as_of_date < {{ daybook.as_of_date() }} as is_over
    from days
),

balances as (
    select
        connection_id,
        currency_code,
        as_of_date,
        {{ daybook.whole_sum('open_amount', 'not is_credit') }} as open_ap_end,
        {{ daybook.whole_sum(
            'open_amount', "not is_credit and document_type = 'bill' and issue_date is not null"
        ) }} as open_dated,
        {{ daybook.whole_sum('open_amount', 'is_credit') }} as unapplied_credits,
        {{ daybook.whole_sum('open_amount', 'days_past_due > 0') }} as overdue,
        {{ daybook.whole_sum('open_amount', 'days_past_due > 90') }} as over_90,
        count(*) - count(open_amount) as unknown_count
    from open_items
    group by connection_id, currency_code, as_of_date
),

-- Bills of which a part was settled on an unknown day: by something that no payment or credit explains, or by an undated one.
-- Past days show the bill without that part, or with it if it came back. The amount due today is known.
hidden as (
    select
        connection_id,
        bill_id,
        currency_code,
        issue_date,
        total_amount,
        case when has_unexplained_amount and unexplained_amount > 0 then unexplained_amount else 0 end
        + abs(undated_amount) as amount
    from bills
    where
        (total_amount > 0 and ((has_unexplained_amount and unexplained_amount > 0) or coalesce(undated_amount <> 0, true)))
        -- An amount that was owed back until it was settled. It is no open bill, so days payable outstanding does not need it.
        or (total_amount < 0 and ((has_unexplained_amount and unexplained_amount < 0) or coalesce(undated_amount < 0, true)))
),

-- Also bills of which more is due than their total less their settlements, for example a late fee: no purchase accounts for it,
-- and nobody knows since when it is due.
unclear as (
    select
        hidden.connection_id,
        hidden.bill_id,
        hidden.currency_code,
        months.month,
        months.as_of_date < {{ daybook.as_of_date() }} as is_past,
        case when hidden.issue_date is null or hidden.total_amount < 0 then 0 else hidden.amount end as dated_amount,
        0 as surplus
    from hidden
    inner join months on coalesce(hidden.issue_date <= months.as_of_date, true)
    union all
    select
        open_items.connection_id,
        open_items.document_id as bill_id,
        open_items.currency_code,
        months.month,
        not open_items.is_today as is_past,
        0 as dated_amount,
        case when open_items.issue_date is null then 0 else open_items.due_beyond_total end as surplus
    from open_items
    inner join months on open_items.as_of_date = months.as_of_date
    where open_items.due_beyond_total > 0
),

unexplained as (
    select
        connection_id,
        currency_code,
        month,
        count(distinct bill_id) filter (where is_past) as bill_count,
        {{ daybook.whole_sum('dated_amount', 'is_past') }} as dated_amount,
        sum(surplus) as surplus
    from unclear
    group by connection_id, currency_code, month
),

-- Nobody knows their month: each month since the bill was issued is possible.
undated_payments as (
    select
        bills.connection_id,
        bills.currency_code,
        months.month,
        count(*) as payment_count
    from bills
    inner join settlements on bills.connection_id = settlements.connection_id and bills.bill_id = settlements.document_id
    inner join months on coalesce(bills.issue_date <= months.as_of_date, true)
    where
        settlements.source_type = 'payment'
        and settlements.counted_date is null
        and settlements.allocated_amount is distinct from 0
    group by bills.connection_id, bills.currency_code, months.month
),

purchases as (
    select
        connection_id,
        currency_code,
        {{ daybook.month_of('issue_date') }} as month,
        {{ daybook.whole_sum('total_amount') }} as purchases,
        -- Compared with open bills, which are above 0 as well.
        {{ daybook.whole_sum('total_amount', 'coalesce(total_amount > 0, true)') }} as purchases_above_0,
        count(*) - count(total_amount) as unknown_count
    from bills
    where issue_date is not null and issue_date <= {{ daybook.as_of_date() }}
    group by connection_id, currency_code, {{ daybook.month_of('issue_date') }}
),

bill_settlements as (
    select
        bills.connection_id,
        bills.bill_id,
        bills.currency_code,
        bills.issue_date,
        bills.due_date,
        bills.total_amount,
        settlements.source_type,
        settlements.counted_date,
        {{ daybook.whole_sum('settlements.allocated_amount') }} as settled,
        count(*) - count(settlements.allocated_amount) as unknown_count
    from settlements
    inner join bills on settlements.connection_id = bills.connection_id and settlements.document_id = bills.bill_id
    group by
        bills.connection_id, bills.bill_id, bills.currency_code, bills.issue_date, bills.due_date, bills.total_amount,
        settlements.source_type, settlements.counted_date
),

settled_by_then as (
    select
        *,
        sum(settled) over (
            partition by connection_id, bill_id, source_type
            order by counted_date asc nulls first rows between unbounded preceding and current row
        ) as settled_by_then,
        sum(unknown_count) over (partition by connection_id, bill_id) as unknown_of_bill
    from bill_settlements
),

-- A refund takes off the latest payment first, so the part of a payment below the smallest paid amount on any later day lasts.
-- The same holds among credits.
lasting as (
    select
        *,
        greatest(min(settled_by_then) over (
            partition by connection_id, bill_id, source_type
            order by counted_date desc nulls last rows between unbounded preceding and current row
        ) - settled_by_then + settled, 0) as lasting_amount
    from settled_by_then
),

-- A payment pays what is owed only as far as credits up to its day, and earlier payments, have left something.
lasted_by_then as (
    select
        *,
        sum(lasting_amount) over (
            partition by connection_id, bill_id
            order by counted_date asc nulls first, case source_type when 'credit' then 1 else 2 end
            rows between unbounded preceding and current row
        ) as lasted_by_then
    from lasting
),

-- Payments of what is owed have a bill total and an amount above 0, and shares and means are only of those. If one of the two is
-- not known, nobody knows whether and how much a payment counts.
weighed as (
    select
        connection_id,
        currency_code,
        {{ daybook.month_of('counted_date') }} as month,
        settled as paid,
        unknown_count,
        coalesce(settled > 0, true) and coalesce(total_amount > 0, true) as is_weighed,
        case
            -- With an unknown total, "least" would say that all of it was owed.
            when unknown_of_bill = 0 and total_amount is not null
                then least(lasted_by_then, total_amount) - least(lasted_by_then - lasting_amount, total_amount)
        end as weight,
        -- If the two days are a century apart, one of them is wrong. The limit also keeps the sum of amounts times days within
        -- its type.
        case
            when abs({{ daybook.days_between('issue_date', 'counted_date') }}) <= 36525
                then {{ daybook.days_between('issue_date', 'counted_date') }}
        end as days_to_pay,
        -- Null without a due date: neither late nor in time.
        counted_date > due_date as is_late
    from lasted_by_then
    where source_type = 'payment' and counted_date is not null
),

payments as (
    select
        connection_id,
        currency_code,
        month,
        {{ daybook.whole_sum('paid') }} as paid,
        {{ daybook.whole_sum('weight', 'is_weighed and is_late is not null') }} as weight_with_due_date,
        {{ daybook.whole_sum('weight', 'is_weighed and is_late') }} as weight_late,
        {{ daybook.whole_sum('weight', 'is_weighed and days_to_pay is not null') }} as weight_with_days,
        {{ daybook.whole_sum('weight * days_to_pay', 'is_weighed and days_to_pay is not null') }} as weighted_days,
        -- A payment with an unknown weight makes shares and means unknown as well.
        cast(
            sum(unknown_count) + count(*) filter (where is_weighed and weight is null and unknown_count = 0) as bigint
        ) as unknown_count
    from weighed
    group by connection_id, currency_code, month
),

monthly as (
    select
        currencies.connection_id,
        currencies.currency_code,
        months.month,
        months.as_of_date,
        months.is_over and coalesce(months.as_of_date <= reads.read_until, false) as is_complete,
        {% for figure in ['open_ap_end', 'open_dated', 'unapplied_credits', 'overdue', 'over_90'] -%}
            case when balances.as_of_date is null then 0 else balances.{{ figure }} end as {{ figure }},
        {% endfor -%}
        case when purchases.month is null then 0 else purchases.purchases end as purchases,
        case when purchases.month is null then 0 else purchases.purchases_above_0 end as purchases_above_0,
        case when payments.month is null then 0 else payments.paid end as paid,
        coalesce(balances.unknown_count, 0) + coalesce(purchases.unknown_count, 0) + coalesce(payments.unknown_count, 0)
            as unknown_count,
        coalesce(unexplained.bill_count, 0) as unexplained_count,
        case when unexplained.month is null then 0 else unexplained.dated_amount end as unexplained_dated,
        coalesce(unexplained.surplus, 0) as surplus,
        coalesce(undated_payments.payment_count, 0) as undated_payment_count,
        payments.weight_with_due_date,
        payments.weight_late,
        payments.weight_with_days,
        payments.weighted_days,
        {{ daybook.days_between('months.month', 'months.as_of_date') }} + 1 as days
    from currencies
    cross join months
    left join reads on currencies.connection_id = reads.connection_id
    left join balances
        on
            currencies.connection_id = balances.connection_id
            and {{ daybook.same_value('currencies.currency_code', 'balances.currency_code') }}
            and months.as_of_date = balances.as_of_date
    left join purchases
        on
            currencies.connection_id = purchases.connection_id
            and {{ daybook.same_value('currencies.currency_code', 'purchases.currency_code') }}
            and months.month = purchases.month
    left join payments
        on
            currencies.connection_id = payments.connection_id
            and {{ daybook.same_value('currencies.currency_code', 'payments.currency_code') }}
            and months.month = payments.month
    left join unexplained
        on
            currencies.connection_id = unexplained.connection_id
            and {{ daybook.same_value('currencies.currency_code', 'unexplained.currency_code') }}
            and months.month = unexplained.month
    left join undated_payments
        on
            currencies.connection_id = undated_payments.connection_id
            and {{ daybook.same_value('currencies.currency_code', 'undated_payments.currency_code') }}
            and months.month = undated_payments.month
),

rolling as (
    select
        *,
        {{ daybook.whole_sum_over('open_dated', 'three_months') }} as open_dated_3_months,
        {{ daybook.whole_sum_over('purchases_above_0', 'three_months') }} as purchases_3_months,
        {{ daybook.whole_sum_over('unexplained_dated', 'three_months') }} as unexplained_3_months,
        sum(surplus) over three_months as surplus_3_months,
        sum(days) over three_months as days_3_months,
        count(*) over three_months as months_seen
    from monthly
    window three_months as (
        partition by connection_id, currency_code
        order by month
        rows between 2 preceding and current row
    )
),

-- Unexplained amounts may have been open at each of the month ends, and amounts due beyond a total at none. If that makes more
-- than half a day, nobody knows.
judged as (
    select
        *,
        case
            when months_seen < 3 then 'fewer_months'
            when open_dated_3_months is null or purchases_3_months is null or unexplained_3_months is null then 'unknown'
            when purchases_3_months <= 0 then 'no_purchases'
            when 2 * (unexplained_3_months + surplus_3_months) * days_3_months > 3 * purchases_3_months then 'unexplained'
            else 'known'
        end as days_payable_status
    from rolling
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
        unknown_count,
        unexplained_count,
        undated_payment_count,
        -- noqa: disable=LT02
        case
            when days_payable_status = 'known'
                then {{ daybook.ratio('open_dated_3_months', '3 * purchases_3_months') }}
                    * {{ daybook.as_double('days_3_months') }}
        end as days_payable_outstanding,
        -- noqa: enable=LT02
        days_payable_status,
        {{ daybook.ratio('weighted_days', 'weight_with_days') }} as average_days_to_pay,
        {{ daybook.ratio('weight_late', 'weight_with_due_date') }} as paid_late_share,
        {{ daybook.ratio('overdue', 'open_ap_end') }} as overdue_share,
        {{ daybook.ratio('over_90', 'open_ap_end') }} as over_90_share
    from judged
)

select * from final
