with source as (
    select * from {{ source('finance', 'subscriptions') }}
),

connections as (
    select * from {{ ref('stg_finance__connections') }}
),

in_this_world as (
    select
        connection_id,
        id as subscription_id,
        platform_id,
        platform_customer_id,
        {{ daybook.currency_code('iso_currency_code') }} as currency_code,
        status,
        created_at,
        updated_at
    from source
    where connection_id in (select connections.connection_id from connections)
)

select * from in_this_world
