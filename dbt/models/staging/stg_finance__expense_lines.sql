with source as (
    select * from {{ source('finance', 'expense_lines') }}
),

connections as (
    select * from {{ ref('stg_finance__connections') }}
),

-- Before any join: DuckDB reads long texts a few rows at a time, and a join puts 2,048 rows together.
shortened as (
    select
        connection_id,
        expense_id,
        cast(position as bigint) as position,
        account_id,
        class_id,
        customer_id,
        department_id,
        location_id,
        tax_rate_id,
        {{ daybook.money('total_amount') }} as total_amount,
        left(description, 4000) as description
    from source
),

in_this_world as (
    select * from shortened
    where connection_id in (select connections.connection_id from connections)
)

select * from in_this_world
