with source as (
    select * from {{ source('finance', 'bills') }}
),

connections as (
    select * from {{ ref('stg_finance__connections') }}
),

-- Before any join: DuckDB reads long texts a few rows at a time, and a join puts 2,048 rows together.
shortened as (
    select
        connection_id,
        id as bill_id,
        left(platform_id, 2000) as platform_id,
        account_id,
        payment_terms_id,
        subsidiary_id,
        vendor_id,
        left({{ daybook.captured_vendor_name() }}, 1000) as platform_vendor_name,
        due_date,
        issue_date,
        {{ daybook.money('amount_due') }} as amount_due,
        {{ daybook.currency_code('currency_code') }} as currency_code,
        status,
        {{ daybook.money('total_amount') }} as total_amount,
        left(document_number, 1000) as document_number,
        left(memo, 4000) as memo,
        {{ daybook.money('sub_total') }} as sub_total,
        {{ daybook.money('tax_amount') }} as tax_amount,
        {{ daybook.money('total_discount') }} as total_discount,
        {{ daybook.rate('currency_rate') }} as currency_rate,
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
