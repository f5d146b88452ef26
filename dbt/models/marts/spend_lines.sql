with lines as (
    select * from {{ ref('int_spend__lined') }}
),

final as (
    select
        connection_id,
        source_type,
        document_id,
        position,
        document_number,
        posting_status,
        spend_date,
        {{ daybook.month_of('spend_date') }} as spend_month,
        coalesce(spend_date > {{ daybook.as_of_date() }}, false) as is_in_future,
        vendor_id,
        account_id,
        class_id,
        department_id,
        location_id,
        customer_id,
        item_id,
        description,
        currency_code,
        gross_amount,
        net_amount,
        tax_treatment,
        base_currency,
        fx_rate,
        fx_status,
        gross_amount_base,
        net_amount_base
    from lines
    where posting_status <> 'excluded'
)

select * from final
