with lines as (
    select * from {{ ref('int_spend__lined') }}
    where document_type = 'expense'
),

source_lines as (
    select * from {{ ref('stg_finance__expense_lines') }}
),

final as (
    select
        lines.connection_id,
        lines.document_id as expense_id,
        lines.position,
        lines.source_type as expense_type,
        lines.spend_date as transaction_date,
        lines.vendor_id,
        lines.account_id,
        lines.class_id,
        lines.department_id,
        lines.location_id,
        lines.customer_id,
        source_lines.tax_rate_id,
        lines.description,
        lines.currency_code,
        source_lines.total_amount,
        lines.gross_amount as signed_amount,
        lines.base_currency,
        lines.gross_amount_base as signed_amount_base,
        lines.fx_status
    from lines
    inner join source_lines
        on
            lines.connection_id = source_lines.connection_id
            and lines.document_id = source_lines.expense_id
            and lines.position = source_lines.position
)

select * from final
