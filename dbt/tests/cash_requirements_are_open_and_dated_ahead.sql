-- Over all weeks cash requirements are the open bills and those dated ahead, as they fall due and as they are expected.
with bills as (
    select
        connection_id,
        currency_code,
        cast({{ daybook.whole_sum('open_amount') }} as numeric(38, 9)) as open_amount,
        cast({{ daybook.whole_sum('dated_ahead_amount') }} as numeric(38, 9)) as dated_ahead_amount,
        cast({{ daybook.whole_sum('open_amount + dated_ahead_amount') }} as numeric(38, 9)) as expected_amount,
        count(*) filter (where is_open) as open_count,
        count(*) filter (where is_dated_ahead) as dated_ahead_count
    from {{ ref('bills') }}
    where is_open or is_dated_ahead
    group by connection_id, currency_code
),

cash as (
    select
        connection_id,
        currency_code,
        cast({{ daybook.whole_sum('amount_due') }} as numeric(38, 9)) as open_amount,
        cast({{ daybook.whole_sum('dated_ahead') }} as numeric(38, 9)) as dated_ahead_amount,
        cast({{ daybook.whole_sum('expected_amount') }} as numeric(38, 9)) as expected_amount,
        cast(sum(document_count) as bigint) as open_count,
        cast(sum(dated_ahead_count) as bigint) as dated_ahead_count
    from {{ ref('cash_requirements') }}
    where due_bucket <> 'unapplied_credits'
    group by connection_id, currency_code
)

{{ daybook.differences('bills', 'cash') }}
