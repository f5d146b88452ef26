with source as (
    select * from {{ source('finance', 'bill_credit_memos') }}
),

connections as (
    select * from {{ ref('stg_finance__connections') }}
),

in_this_world as (
    select
        connection_id,
        id as bill_credit_memo_id,
        platform_id,
        account_id,
        vendor_id,
        {{ daybook.captured_vendor_name() }} as platform_vendor_name,
        issue_date,
        -- Each line repeats it.
        left(document_number, 1000) as document_number,
        {{ daybook.money('remaining_amount') }} as remaining_amount,
        status,
        {{ daybook.money('total_amount') }} as total_amount,
        {{ daybook.currency_code('currency_code') }} as currency_code,
        memo,
        created_at,
        updated_at,
        last_synced_at
    from source
    where connection_id in (select connections.connection_id from connections)
)

select * from in_this_world
