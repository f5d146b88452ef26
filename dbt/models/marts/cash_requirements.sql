with open_items as (
    select * from {{ ref('ap_open_items') }}
    where is_today
),

bills as (
    select * from {{ ref('bills') }}
    where posting_status = 'posted'
),

credited as (
    select * from {{ ref('int_ap_documents__credited_later') }}
),

last_paid as (
    select * from {{ ref('int_bills__last_paid') }}
),

vendor_habits as (
    select
        bills.connection_id,
        bills.vendor_id,
        percentile_disc(0.5) within group (
            order by {{ daybook.days_between('bills.due_date', 'last_paid.last_paid_date') }}
        ) as median_days_late
    from bills
    inner join last_paid on bills.connection_id = last_paid.connection_id and bills.bill_id = last_paid.bill_id
    where
        not bills.is_open and (bills.issue_date is null or bills.issue_date <= bills.as_of_date)
        and bills.due_date is not null and bills.paid_off_date is not null
        -- Bills without a vendor have no habit in common.
        and bills.vendor_id <> '(none)'
    group by bills.connection_id, bills.vendor_id
),

-- A bill dated ahead cannot fall due, or be expected, before it is issued. A bill that is not overdue cannot be expected before
-- today.
payable as (
    select
        connection_id,
        document_type,
        document_id,
        currency_code,
        as_of_date,
        vendor_id,
        is_credit,
        false as is_dated_ahead,
        due_date,
        case when due_date >= as_of_date then as_of_date end as not_before,
        open_amount as amount
    from open_items
    union all
    select
        connection_id,
        'bill' as document_type,
        bill_id as document_id,
        currency_code,
        as_of_date,
        vendor_id,
        false as is_credit,
        true as is_dated_ahead,
        case when due_date is not null then greatest(due_date, issue_date) end as due_date,
        issue_date as not_before,
        dated_ahead_amount as amount
    from bills
    where is_dated_ahead
),

expected as (
    select
        payable.*,
        -- An amount that a credit settles later stands until then, and nobody pays it.
        case when credited.document_id is null then 0 else credited.credited_later_amount end as credited_amount,
        {{ daybook.days_between('payable.as_of_date', 'payable.due_date') }} as days_to_due,
        case
            when payable.due_date is not null
                then greatest(
                    {{ daybook.days_between('payable.as_of_date', 'payable.due_date') }}
                    + coalesce(vendor_habits.median_days_late, 0),
                    {{ daybook.days_between('payable.as_of_date', 'payable.not_before') }}
                )
        end as days_to_expected
    from payable
    left join vendor_habits
        on
            payable.connection_id = vendor_habits.connection_id
            and payable.vendor_id = vendor_habits.vendor_id
    left join credited
        on
            payable.connection_id = credited.connection_id
            and payable.document_type = credited.document_type
            and payable.document_id = credited.document_id
),

bucketed as (
    select
        *,
        {{ daybook.due_bucket('days_to_due') }} as due_bucket,
        {{ daybook.due_bucket('days_to_expected') }} as expected_bucket
    from expected
),

parts as (
    select
        as_of_date,
        connection_id,
        currency_code,
        case when is_credit then 'unapplied_credits' else due_bucket end as due_bucket,
        case when is_dated_ahead then 'ahead' else 'due' end as part,
        amount,
        credited_amount
    from bucketed
    union all
    select
        as_of_date,
        connection_id,
        currency_code,
        case when is_credit then 'unapplied_credits' else expected_bucket end as due_bucket,
        'expected' as part,
        amount - credited_amount as amount,
        cast(0 as numeric(38, 9)) as credited_amount
    from bucketed
),

final as (
    select
        as_of_date,
        connection_id,
        currency_code,
        due_bucket,
        cast({{ daybook.whole_sum('amount', "part = 'due'") }} as numeric(38, 9)) as amount_due,
        cast({{ daybook.whole_sum('amount', "part = 'ahead'") }} as numeric(38, 9)) as dated_ahead,
        cast({{ daybook.whole_sum('amount', "part = 'expected'") }} as numeric(38, 9)) as expected_amount,
        cast({{ daybook.whole_sum('credited_amount', "part = 'due'") }} as numeric(38, 9)) as amount_due_credited,
        cast({{ daybook.whole_sum('credited_amount', "part = 'ahead'") }} as numeric(38, 9)) as dated_ahead_credited,
        count(*) filter (where part = 'due') as document_count,
        count(*) filter (where part = 'ahead') as dated_ahead_count,
        count(*) filter (where part <> 'expected' and amount is null) as unknown_count
    from parts
    group by as_of_date, connection_id, currency_code, due_bucket
)

select * from final
