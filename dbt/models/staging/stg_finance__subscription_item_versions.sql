with source as (
    select * from {{ source('finance', 'subscription_item_versions') }}
),

connections as (
    select * from {{ ref('stg_finance__connections') }}
),

in_this_world as (
    select
        connection_id,
        subscription_id,
        cast(position as bigint) as position,
        recorded_at,
        op,
        status,
        platform_customer_id,
        {{ daybook.currency_code('iso_currency_code') }} as currency_code,
        {{ adapter.quote('interval') }} as billing_interval, -- noqa: RF06
        interval_count,
        {{ daybook.money('quantity') }} as quantity,
        {{ daybook.money('amount') }} as amount,
        {{ daybook.rate('unit_amount') }} as unit_amount
    from source
    where connection_id in (select connections.connection_id from connections)
)

select * from in_this_world
