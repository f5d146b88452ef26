with lines as (
    select * from {{ ref('stg_finance__bill_credit_memo_lines') }}
),

{{ daybook.taxed_lines('bill_credit_memo_lines', 'stg_finance__bill_credit_memos', 'bill_credit_memo_id') }}

-- All columns of the lines, whatever they are, and five more.
select * from taxed -- noqa: AM04
