with lines as (
    select * from {{ ref('int_bill_lines__netted') }}
),

bills as (
    select * from {{ ref('stg_finance__bills') }}
),

rated as (
    select * from {{ ref('int_documents__rated') }}
    where document_type = 'bill'
),

final as (
    select
        lines.connection_id,
        lines.bill_id,
        lines.position,
        {{ daybook.posting_status('bills.status') }} as posting_status,
        bills.issue_date,
        coalesce(bills.vendor_id, '(none)') as vendor_id,
        lines.account_id,
        lines.class_id,
        lines.department_id,
        lines.location_id,
        lines.customer_id,
        lines.item_id,
        lines.tax_rate_id,
        lines.description,
        lines.item_quantity as quantity,
        lines.item_unit_amount as unit_amount,
        lines.discount_amount,
        lines.discount_percentage,
        bills.currency_code,
        lines.net_amount,
        lines.tax_amount,
        lines.gross_amount,
        lines.tax_treatment,
        rated.base_currency,
        cast({{ daybook.to_base('lines.net_amount', 'rated') }} as numeric(38, 9)) as net_amount_base,
        cast({{ daybook.to_base('lines.gross_amount', 'rated') }} as numeric(38, 9)) as gross_amount_base,
        rated.fx_status
    from lines
    inner join bills on lines.connection_id = bills.connection_id and lines.bill_id = bills.bill_id
    inner join rated on lines.connection_id = rated.connection_id and lines.bill_id = rated.document_id
)

select * from final
