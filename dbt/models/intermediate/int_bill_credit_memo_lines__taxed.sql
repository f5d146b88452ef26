with lines as (
    select * from {{ ref('stg_finance__bill_credit_memo_lines') }}
),

{{ daybook.taxed_lines('lines') }}

select * from taxed
