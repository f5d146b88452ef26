with source as (
    select * from {{ source('finance', 'customers') }}
),

connections as (
    select * from {{ ref('stg_finance__connections') }}
),

-- Before any join: DuckDB reads long texts a few rows at a time, and a join puts 2,048 rows together.
shortened as (
    select
        connection_id,
        id as customer_id,
        left(platform_id, 2000) as platform_id,
        parent_id,
        subsidiary_id,
        status,
        left(contact_name, 1000) as contact_name,
        {{ daybook.currency_code('currency_code') }} as currency_code,
        left(customer_name, 1000) as customer_name,
        left(email, 250) as email,
        left(phone, 250) as phone,
        left(registration_number, 250) as registration_number,
        left(tax_number, 250) as tax_number,
        updated_at,
        last_synced_at
    from source
),

in_this_world as (
    select * from shortened
    where connection_id in (select connections.connection_id from connections)
)

select * from in_this_world
