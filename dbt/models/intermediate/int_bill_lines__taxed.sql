with lines as (
    select * from {{ ref('stg_finance__bill_lines') }}
),

{{ daybook.taxed_lines('bill_lines', 'stg_finance__bills', 'bill_id', {
    'sub_total': 'documents.sub_total',
    'tax': 'coalesce(documents.tax_amount, 0)',
    'discount': 'coalesce(documents.total_discount, 0)'
}) }}

-- All columns of the lines, whatever they are, and four more.
select * from taxed -- noqa: AM04
