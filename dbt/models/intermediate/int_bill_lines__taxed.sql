with lines as (
    select * from {{ ref('stg_finance__bill_lines') }}
),

{{ daybook.taxed_lines('bill_lines', 'stg_finance__bills', 'bill_id', {
    'sub_total': 'documents.sub_total',
    'tax': 'documents.tax_amount',
    'discount': 'coalesce(documents.total_discount, 0)'
}) }}

-- All columns of the lines, whatever they are, and five more.
select * from taxed -- noqa: AM04
