-- Ageing and its buckets are the sum of the open items, on every day. An unknown amount is unknown in both.
with items as (
    select
        as_of_date,
        connection_id,
        vendor_id,
        currency_code,
        cast({{ daybook.whole_sum('open_amount') }} as numeric(38, 9)) as open_amount,
        cast({{ daybook.whole_sum('open_amount') }} as numeric(38, 9)) as buckets
    from {{ ref('ap_open_items') }}
    group by as_of_date, connection_id, vendor_id, currency_code
),

ageing as (
    select
        as_of_date,
        connection_id,
        vendor_id,
        currency_code,
        total_open as open_amount,
        cast(not_due + days_1_30 + days_31_60 + days_61_90 + days_over_90 + no_due_date as numeric(38, 9)) as buckets
    from {{ ref('ap_ageing') }}
)

{{ daybook.difference('items', 'ageing') }}
