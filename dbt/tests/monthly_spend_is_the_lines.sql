-- Both monthly marts are the sum of the posted spend lines that are not dated ahead, in every month and currency. An unknown
-- amount is unknown in all of them.
with lines as (
    select
        connection_id,
        spend_month,
        currency_code,
        cast({{ daybook.whole_sum('gross_amount') }} as numeric(38, 9)) as spend
    from {{ ref('spend_lines') }}
    where posting_status = 'posted' and not is_in_future
    group by connection_id, spend_month, currency_code
),

expected as (
    select
        marts.mart,
        lines.*
    from lines
    cross join (values ('vendor'), ('account'), ('class'), ('department'), ('location')) as marts (mart)
),

found as (
    select
        'vendor' as mart,
        connection_id,
        spend_month,
        currency_code,
        cast({{ daybook.whole_sum('spend') }} as numeric(38, 9)) as spend
    from {{ ref('vendor_spend_monthly') }}
    group by connection_id, spend_month, currency_code
    union all
    select
        dimension as mart,
        connection_id,
        spend_month,
        currency_code,
        cast({{ daybook.whole_sum('spend') }} as numeric(38, 9)) as spend
    from {{ ref('spend_by_dimension_monthly') }}
    group by dimension, connection_id, spend_month, currency_code
)

{{ daybook.difference('expected', 'found') }}
