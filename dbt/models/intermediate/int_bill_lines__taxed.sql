with lines as (
    select * from {{ ref('stg_finance__bill_lines') }}
),

{{ daybook.taxed_lines('bill_lines', 'stg_finance__bills', 'bill_id') }}

-- All columns of the lines, whatever they are, and four more.
select * from taxed -- noqa: AM04
