-- Bills, open items, ageing and cash requirements show the same overdue amount in every currency.
with figures as (
    select
        'bills' as mart,
        connection_id,
        currency_code,
        cast({{ daybook.whole_sum('open_amount') }} as numeric(38, 9)) as overdue
    from {{ ref('bills') }}
    where is_overdue
    group by connection_id, currency_code
    union all
    select
        'ap_open_items' as mart,
        connection_id,
        currency_code,
        cast({{ daybook.whole_sum('open_amount') }} as numeric(38, 9)) as overdue
    from {{ ref('ap_open_items') }}
    where is_today and days_past_due > 0
    group by connection_id, currency_code
    union all
    select
        'ap_ageing' as mart,
        connection_id,
        currency_code,
        cast({{ daybook.whole_sum('overdue_amount') }} as numeric(38, 9)) as overdue
    from {{ ref('ap_ageing') }}
    where is_today
    group by connection_id, currency_code
    union all
    select
        'cash_requirements' as mart,
        connection_id,
        currency_code,
        amount_due as overdue
    from {{ ref('cash_requirements') }}
    where due_bucket = 'overdue'
),

found as (
    select * from figures
    where overdue is distinct from 0
),

marts as (
    select distinct mart from figures
),

expected as (
    select
        marts.mart,
        found.connection_id,
        found.currency_code,
        found.overdue
    from found
    cross join marts
    where found.mart = 'bills'
)

{{ daybook.difference('expected', 'found') }}
