with source as (
    select * from {{ source('finance', 'expenses') }}
),

connections as (
    select * from {{ ref('stg_finance__connections') }}
),

-- Before any join: DuckDB reads long texts a few rows at a time, and a join puts 2,048 rows together.
shortened as (
    select
        connection_id,
        id as expense_id,
        left(platform_id, 2000) as platform_id,
        account_id,
        subsidiary_id,
        vendor_id,
        left({{ daybook.captured_vendor_name() }}, 1000) as platform_vendor_name,
        transaction_date,
        {{ daybook.currency_code('currency_code') }} as currency_code,
        expense_type,
        {{ daybook.rate('currency_rate') }} as currency_rate,
        left(memo, 4000) as memo,
        created_at,
        updated_at,
        last_synced_at
    from source
),

in_this_world as (
    select * from shortened
    where connection_id in (select connections.connection_id from connections)
)

select * from in_this_world
