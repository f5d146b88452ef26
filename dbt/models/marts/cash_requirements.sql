with open_items as (
    select * from {{ ref('ap_open_items') }}
    where is_today
),

bills as (
    select * from {{ ref('bills') }}
),

vendor_habits as (
    select
        connection_id,
        vendor_id,
        percentile_disc(0.5) within group (
            order by {{ daybook.days_between('due_date', 'last_payment_date') }}
        ) as median_days_late
    from bills
    where posting_status = 'posted' and amount_due = 0 and due_date is not null and last_payment_date is not null
    group by connection_id, vendor_id
),

expected as (
    select
        open_items.connection_id,
        open_items.currency_code,
        open_items.as_of_date,
        open_items.document_type,
        open_items.open_amount,
        {{ daybook.days_between('open_items.as_of_date', 'open_items.due_date') }} as days_to_due,
        {{ daybook.days_between('open_items.as_of_date', 'open_items.due_date') }}
        + coalesce(vendor_habits.median_days_late, 0) as days_to_expected
    from open_items
    left join vendor_habits
        on
            open_items.connection_id = vendor_habits.connection_id
            and open_items.vendor_id = vendor_habits.vendor_id
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
        case when document_type = 'vendor_credit' then 'unapplied_credits' else due_bucket end as due_bucket,
        open_amount as amount_due,
        cast(null as numeric(38, 9)) as expected_amount
    from bucketed
    union all
    select
        as_of_date,
        connection_id,
        currency_code,
        case when document_type = 'vendor_credit' then 'unapplied_credits' else expected_bucket end as due_bucket,
        cast(null as numeric(38, 9)) as amount_due,
        open_amount as expected_amount
    from bucketed
),

final as (
    select
        as_of_date,
        connection_id,
        currency_code,
        due_bucket,
        cast(coalesce(sum(amount_due), 0) as numeric(38, 9)) as amount_due,
        cast(coalesce(sum(expected_amount), 0) as numeric(38, 9)) as expected_amount,
        count(amount_due) as document_count
    from parts
    group by as_of_date, connection_id, currency_code, due_bucket
)

select * from final
