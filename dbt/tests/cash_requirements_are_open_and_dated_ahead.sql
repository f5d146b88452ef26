-- Over all weeks, cash requirements are the open bills, the bills dated ahead, and the credits below 0, both as they fall due and
-- as they are expected. Amounts that credits settle later are due, but not expected.
with payable as (
    select
        connection_id,
        currency_code,
        open_amount,
        dated_ahead_amount,
        credited_later_amount,
        is_open,
        is_dated_ahead
    from {{ ref('bills') }}
    where is_open or is_dated_ahead
    union all
    select
        connection_id,
        currency_code,
        -unapplied_amount as open_amount,
        0 as dated_ahead_amount,
        -applied_later_amount as credited_later_amount,
        true as is_open,
        false as is_dated_ahead
    from {{ ref('vendor_credits') }}
    where unapplied_amount < 0
),

bills as (
    select
        connection_id,
        currency_code,
        cast({{ daybook.whole_sum('open_amount') }} as numeric(38, 9)) as open_amount,
        cast({{ daybook.whole_sum('dated_ahead_amount') }} as numeric(38, 9)) as dated_ahead_amount,
        cast(
            {{ daybook.whole_sum('open_amount + dated_ahead_amount - credited_later_amount') }} as numeric(38, 9)
        ) as expected_amount,
        cast({{ daybook.whole_sum('credited_later_amount') }} as numeric(38, 9)) as credited_later_amount,
        count(*) filter (where is_open) as open_count,
        count(*) filter (where is_dated_ahead) as dated_ahead_count
    from payable
    group by connection_id, currency_code
),

cash as (
    select
        connection_id,
        currency_code,
        cast({{ daybook.whole_sum('amount_due') }} as numeric(38, 9)) as open_amount,
        cast({{ daybook.whole_sum('dated_ahead') }} as numeric(38, 9)) as dated_ahead_amount,
        cast({{ daybook.whole_sum('expected_amount') }} as numeric(38, 9)) as expected_amount,
        cast({{ daybook.whole_sum('amount_due_credited + dated_ahead_credited') }} as numeric(38, 9)) as credited_later_amount,
        cast(sum(document_count) as bigint) as open_count,
        cast(sum(dated_ahead_count) as bigint) as dated_ahead_count
    from {{ ref('cash_requirements') }}
    where due_bucket <> 'unapplied_credits'
    group by connection_id, currency_code
)

{{ daybook.difference('bills', 'cash') }}
