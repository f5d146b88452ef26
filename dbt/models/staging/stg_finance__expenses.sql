with source as (
    select * from {{ source('finance', 'expenses') }}
),

connections as (
    select * from {{ ref('stg_finance__connections') }}
),

in_this_world as (
    select
        connection_id,
        id as expense_id,
        platform_id,
        account_id,
        subsidiary_id,
        vendor_id,
        {{ daybook.captured_vendor_name() }} as platform_vendor_name,
        transaction_date,
        {{ daybook.currency_code('currency_code') }} as currency_code,
        expense_type,
        {{ daybook.rate('currency_rate') }} as currency_rate,
        memo,
        created_at,
        updated_at,
        last_synced_at
    from source
    where connection_id in (select connections.connection_id from connections)
)

select * from in_this_world
