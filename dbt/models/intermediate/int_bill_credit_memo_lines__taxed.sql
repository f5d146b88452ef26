with lines as (
    select * from {{ ref('stg_finance__bill_credit_memo_lines') }}
),

{{ daybook.taxed_lines('lines') }}

-- All columns of the lines, whatever they are, and three more.
select * from taxed -- noqa: AM04
