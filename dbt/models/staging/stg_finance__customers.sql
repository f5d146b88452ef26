with source as (
    select * from {{ source('finance', 'customers') }}
),

connections as (
    select * from {{ ref('stg_finance__connections') }}
),

in_this_world as (
    select
        connection_id,
        id as customer_id,
        platform_id,
        parent_id,
        subsidiary_id,
        status,
        contact_name,
        {{ daybook.currency_code('currency_code') }} as currency_code,
        customer_name,
        email,
        phone,
        registration_number,
        tax_number,
        updated_at,
        last_synced_at
    from source
    where connection_id in (select connections.connection_id from connections)
)

select * from in_this_world
